"""Counts the tries of a model that asks for what cannot run, and says when it has had enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hermes_jupyter.calls import ToolResult

MAX_TRIES = 3


class Tries:
    """Of one turn. A tool that could be called has all its tries again."""

    def __init__(self) -> None:
        self._empty_steps = 0
        self._mistakes: Counter[tuple[str, str]] = Counter()

    def note(self, results: Sequence[ToolResult]) -> str:
        """Take account of a step, and say why the turn must end, if it must."""
        nothing_ran = all(result.args is None for result in results)
        self._empty_steps = self._empty_steps + 1 if nothing_ran else 0
        for name in {result.call.name for result in results if result.args is not None}:
            for mistake in [each for each in self._mistakes if each[0] == name]:
                del self._mistakes[mistake]
        # Several calls of one step with the same mistake are one try: none could learn of another.
        self._mistakes.update({(each.call.name, each.mistake) for each in results if each.mistake})
        for (name, what), times in self._mistakes.items():
            if times >= MAX_TRIES:
                return f"the model made the same mistake {times} times: {what[:200] or name[:100]}"
        if self._empty_steps >= MAX_TRIES:
            return f"the model asked {MAX_TRIES} times in a row for calls that cannot run"
        return ""
