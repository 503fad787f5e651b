"""Counts the tries of a model that asks for what cannot run, and says when it has had enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hermes_jupyter.agent.checks import fingerprint
from hermes_jupyter.calls import ToolCall

MAX_TRIES = 3


class Tries:
    """Of one turn. A tool that could be called has all its tries again."""

    def __init__(self) -> None:
        self._empty_steps = 0
        self._mistakes: Counter[tuple[str, str]] = Counter()

    def note(self, calls: Sequence[ToolCall]) -> str:
        """Take account of a step, and say why the turn must end, if it must."""
        self._empty_steps = self._empty_steps + 1 if all(call.error for call in calls) else 0
        for name in {call.name for call in calls if not call.error}:
            for mistake in [each for each in self._mistakes if each[0] == name]:
                del self._mistakes[mistake]
        # Several calls of one step with the same mistake are one try: none could learn of another.
        self._mistakes.update({(call.name, what) for call in calls if (what := fingerprint(call))})
        for (name, what), times in self._mistakes.items():
            if times >= MAX_TRIES:
                return f"the model made the same mistake {times} times: {_short(name, what)}"
        if self._empty_steps >= MAX_TRIES:
            return f"the model asked {MAX_TRIES} times in a row for calls that cannot run"
        return ""


def _short(name: str, what: str) -> str:
    return what[:200] or f"a call of {name[:100]!r} that cannot run"
