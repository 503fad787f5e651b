"""What is said when a conversation goes on in another kernel: to the person, and to the model."""

from __future__ import annotations

from datetime import datetime

from hermes_jupyter.store.sessions.catalog import Reopened

RESUMED = (
    "[The conversation goes on in a new kernel: variables and shell state of before are gone, and "
    "files may have changed since; background processes that still run are in the list of the "
    "process tool. The working folder is {cwd}]\n\n"
)


def for_person(taken_up: Reopened) -> str:
    """One line: since when, how much, and how to begin another."""
    about = taken_up.about
    at = datetime.fromtimestamp(about.updated)
    cut = ", which ended when its kernel died" if taken_up.was_cut else ""
    return (
        f"going on with the conversation of {at:%Y-%m-%d %H:%M} ({about.messages} messages{cut}); "
        "%hermes new begins another"
    )


def for_model(cwd: str) -> str:
    """What stands before the next prompt."""
    return RESUMED.format(cwd=cwd)
