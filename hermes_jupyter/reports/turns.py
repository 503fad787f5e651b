"""Reports on turns: the one that runs, the last one, and what was dispatched in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.kernel.shell import current_kernel
from hermes_jupyter.views import words as said
from hermes_jupyter.views.trace_table import bundle_of


def attach(magics: Any, _words: Sequence[str]) -> None:
    kernel = current_kernel()
    parent = kernel.get_parent("shell") if kernel is not None else None
    if not magics.desktop.attach(parent):
        print("No turn is running. The last one: %hermes last")
        return
    if not magics.desktop.ask_here() and magics.desktop.is_probing:
        print("If no buttons appear here within a few seconds: %hermes attach once more.")


def stop(magics: Any, _words: Sequence[str]) -> None:
    print("Stopping." if magics.desktop.stop() else "No turn is running.")


def say(magics: Any, words: Sequence[str]) -> None:
    """Tell the agent something while it works; this one is for cells that nothing keeps waiting."""
    text = " ".join(words)
    if not text:
        raise ConfigurationError("what shall it hear? %hermes say TEXT")
    magics.keep_out_of_history(text)
    print(magics.desktop.say(magics.expanded(text)))


def go_on(magics: Any, _words: Sequence[str]) -> None:
    """Go on with the turn that was interrupted, stopped or broken."""
    magics.desktop.go_on()


def show_last(magics: Any, words: Sequence[str]) -> None:
    """The last turn's record and the trace of its calls; ``--trace`` for that of all turns."""
    if words not in ([], ["--trace"]):
        raise ConfigurationError(f"%hermes last takes --trace, not {' '.join(words)!r}")
    desktop = magics.desktop
    if words:
        dispatches = desktop.trace.dispatches()
        if not dispatches:
            print("No tool was called yet.")
    elif desktop.last is None:
        print("There is no turn yet.")
        return
    else:
        magics.display(desktop.last.record.bundle())
        dispatches = desktop.trace.dispatches(desktop.last.turn)
    if dispatches:
        title = f"Trace: {said.count(len(dispatches), 'tool call')}"
        magics.display(bundle_of(dispatches, title))
