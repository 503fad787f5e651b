"""What all shells do around a command: wait for their turn, look at the text, say why it ended."""

from __future__ import annotations

import threading

from tools.environments.base import INTERRUPTED, TIMED_OUT, CommandResult
from tools.environments.output import OutputCollector

SECONDS_BETWEEN_LOOKS = 0.02
PLAIN_TERMINAL = {"GIT_PAGER": "cat", "PAGER": "cat", "PYTHONUNBUFFERED": "1", "TERM": "dumb"}
CLOSED = "this environment is closed; open another one"


def encoded(text: str, *, nul: bool = False) -> bytes:
    if "\0" in text and not nul:
        raise ValueError("a command cannot contain the character NUL")
    return text.encode("utf-8", "surrogateescape")  # its error is a ValueError as well


def take_turn(lock: threading.Lock, cancelled: threading.Event | None) -> bool:
    """Wait for the lock; False if the call was cancelled first."""
    while not lock.acquire(timeout=SECONDS_BETWEEN_LOOKS):
        if cancelled is not None and cancelled.is_set():
            return False
    return True


def halted(
    why: str, output: OutputCollector, timeout: float | None, note: str = ""
) -> CommandResult:
    if why == "timed out":
        text = output.finish(f"[Command timed out after {timeout:g}s]")
        return CommandResult(text, TIMED_OUT, timed_out=True, note=note)
    text = output.finish("[Command interrupted]")
    return CommandResult(text, INTERRUPTED, interrupted=True, note=note)
