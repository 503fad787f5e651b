"""Notices a model that goes round in circles, by what its calls bring and not by what it says."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from hermes_jupyter.calls import ToolResult

SAME_FAILURES = 5
IDLE_STEPS = 5
HINT_AFTER = 3
HINT = (
    "Your last {steps} steps brought nothing that you did not know: the same calls gave the same "
    "results. Do something else, or answer with what you have and say what is missing."
)


class Guardrails:
    """Of one turn.

    A step is idle if all its calls were made before with the same result. So repeated calls,
    and circles of any length (A, B, A, B), come to an end; work that changes something does not.
    """

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._failures: Counter[tuple[str, bytes]] = Counter()
        self.idle = 0
        """Steps in a row that brought nothing new."""

    def note(self, results: Sequence[ToolResult]) -> str:
        """Take account of a step, and say why the turn must end, if it must."""
        # A twin of another call did not run, and says so in other words each time.
        results = [each for each in results if each.call.mistake or not each.call.error]
        news = {_mark(each) for each in results} - self._seen
        self._seen |= news
        self.idle = 0 if news else self.idle + 1
        # Several calls of one step are one try.
        self._failures.update({(e.call.name, _digest(e.text)) for e in results if _failed(e)})
        for (name, _), times in self._failures.items():
            if times >= SAME_FAILURES:
                return f"{name[:100]} failed {times} times in the same way"
        if self.idle >= IDLE_STEPS:
            return f"{self.idle} steps in a row repeated calls that gave the same results as before"
        return ""

    def hint(self) -> str:
        """What the model is told before it is stopped; "" if nothing."""
        return HINT.format(steps=self.idle) if self.idle >= HINT_AFTER else ""


def _failed(result: ToolResult) -> bool:
    """By its status, never by words in its text, which may be those of a file."""
    return result.status in ("error", "timeout") or result.exit_code != 0


def _mark(result: ToolResult) -> bytes:
    args = result.args if result.args is not None else result.call.args
    written = json.dumps(args, sort_keys=True, default=str)
    return _digest(f"{result.call.name}\0{written}\0{result.status}\0{result.text}")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
