"""Looks at an answer before it counts, and says what does not fit: at most once in a turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_jupyter.agent.second_look import claims, lines, looking, numbers, unsaid
from hermes_jupyter.agent.second_look.evidence import Evidence, failed, written
from hermes_jupyter.agent.second_look.objection import Objection
from hermes_jupyter.agent.wishes import wishes_of
from hermes_jupyter.calls import ToolCall, ToolResult

BLIND = (
    "{name} is there already, and you have not read it. write_file would replace all of it. Read "
    "it first with read_file; then change a part with patch, or write all of it. To copy or move "
    "a file use terminal: cp, mv."
)
MAX_REFUSED = 2
"""How often for a file: who insists may replace it."""
Check = Callable[[str, Evidence], Objection | None]
CHECKS: tuple[Check, ...] = (
    looking.not_looked,
    claims.not_done,
    claims.failed_after_all,
    looking.only_errors,
    lines.left_over,
    numbers.not_counted,
    numbers.with_header,
    unsaid.not_followed,
    unsaid.not_told,
    unsaid.no_value,
    unsaid.only_repeated,
    numbers.from_nowhere,
)
"""In this order; the first objection is made."""


class SecondLook:
    """Of one turn.

    Parameters
    ----------
    request
        What the person asked for.
    """

    def __init__(self, request: str) -> None:
        self._request = request
        self._results: list[ToolResult] = []
        self._has_objected = False
        self._refused: Counter[str] = Counter()

    def note(self, results: Sequence[ToolResult]) -> None:
        """Take account of what the tools said."""
        self._results.extend(results)

    def refusal(self, call: ToolCall, folder: str | None) -> str:
        """Why a call must not run yet: it would replace a file that nobody has looked at.

        Parameters
        ----------
        folder
            Where the call would run; None if that is on another machine.
        """
        name = call.args.get("path")
        if call.name != "write_file" or not isinstance(name, str) or folder is None:
            return ""
        if self._refused[name] >= MAX_REFUSED or self._knows(name):
            return ""
        if not _has_text(Path(folder) / Path(name).expanduser()):
            return ""
        self._refused[name] += 1
        return BLIND.format(name=name)

    def _knows(self, name: str) -> bool:
        """Was the file read or written?"""
        return any(name in written(each) for each in self._results if not failed(each))

    def objection(self, answer: str) -> Objection | None:
        """What is wrong with an answer; nothing if all is well, or something was said before."""
        if self._has_objected or not answer.strip():
            return None
        evidence = Evidence(self._request, wishes_of(self._request), tuple(self._results))
        found = next(filter(None, (check(answer, evidence) for check in CHECKS)), None)
        self._has_objected = found is not None
        return found


def _has_text(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError:  # a path that cannot be one: the tool will say so
        return False
