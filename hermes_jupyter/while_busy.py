"""The ``%hermes`` commands that are answered at once although the kernel is busy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from hermes_jupyter.background import Background
from hermes_jupyter.errors import ConfigurationError, HermesError
from hermes_jupyter.kernel.mentions import as_meant
from hermes_jupyter.kernel.serving import Command
from hermes_jupyter.kernel.shell import user_namespace
from tools.environments.jobs import JobError

if TYPE_CHECKING:
    from hermes_jupyter.desktop import Desktop

PATIENCE_SECONDS = 3.0
LATER = "It takes longer than a moment and goes on; %hermes jobs tells later what came of it.\n"
NOTHING_RUNS = "No turn is running.\n"
HOW = "%hermes jobs lists what runs in the background; %hermes jobs stop NUMBER ends one of them"


def commands(desktop: Desktop) -> dict[str, Command]:
    """What to do for them, by their text; see `kernel.serving.Serving`."""

    def said(message: Mapping[str, Any]) -> str:
        return f"{desktop.say(as_meant(_rest(message), user_namespace()))}\n"

    def jobs(message: Mapping[str, Any]) -> str:
        return _soon(lambda: about_jobs(desktop.background, _rest(message).split()))

    return {
        "%hermes attach": desktop.attach,
        "%hermes stop": lambda _message: "Stopping.\n" if desktop.stop() else NOTHING_RUNS,
        "%hermes jobs": lambda _message: _soon(desktop.background.told),
        "%hermes jobs ...": jobs,
        "%hermes say ...": said,
    }


def about_jobs(background: Background, words: Sequence[str]) -> str:
    """What ``%hermes jobs WORDS`` prints, once it is done.

    Raises
    ------
    HermesError
        For words that make no sense, or a number of nothing.
    JobError
        If a process cannot be ended.
    """
    if not words:
        return background.told()
    if len(words) != 2 or words[0] != "stop" or not words[1].isdecimal():
        raise ConfigurationError(HOW)
    return f"{background.stop(int(words[1]))}\n"


def _soon(work: Callable[[], str]) -> str:
    """What ``work`` says. It may ask another machine, for which nobody who waits here has time."""
    outcome: Future[str] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except (HermesError, JobError) as problem:
            outcome.set_result(f"{problem}\n")
        except Exception as error:  # noqa: BLE001 - for whoever waits
            outcome.set_exception(error)

    threading.Thread(target=run, name="hermes-jobs", daemon=True).start()
    try:
        return outcome.result(PATIENCE_SECONDS)
    except TimeoutError:
        return LATER


def _rest(message: Mapping[str, Any]) -> str:
    """What follows ``%hermes WORD``."""
    return str(message["content"]["code"].strip().split(None, 2)[2])
