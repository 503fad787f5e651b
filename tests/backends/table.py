"""What passed where, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.backends.place import Place

PLACE, BEHAVIOUR = "place", "behaviour"
"""Names of the properties of a report."""
HEAD = """\
# Where terminals are proven

One suite says how a terminal behaves, and runs in every place: `make test-backends`. This page is
made by that run. A number counts cases; "–" means that the place lacks what the test asks for.

"""


class Outcomes:
    """Of all tests that ran in places."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._places = places
        self._of: dict[str, dict[str, list[str]]] = {}
        self._reasons: dict[str, str] = {}

    def add(self, report: pytest.TestReport) -> None:
        about = dict(report.user_properties)
        if PLACE not in about or (report.when != "call" and report.passed):
            return
        place, name = str(about[PLACE]), str(about[BEHAVIOUR])
        outcome: str = report.outcome
        if report.skipped:
            reason = _reason(report.longrepr)
            lacking = reason.startswith(f"{place} has no ")
            outcome = "lacking" if lacking else outcome
            if not lacking:
                self._reasons[place] = reason
        self._of.setdefault(name, {}).setdefault(place, []).append(outcome)

    def table(self) -> str:
        """The page."""
        columns = [name for name in self._places if any(name in row for row in self._of.values())]
        lines = [
            "| behaviour | " + " | ".join(self._places[name].title for name in columns) + " |",
            "|---" * (len(columns) + 1) + "|",
        ]
        for name, row in sorted(self._of.items()):
            said = name.removeprefix("test_").replace("_", " ")
            cells = [_cell(row.get(column, [])) for column in columns]
            lines.append(f"| {said} | " + " | ".join(cells) + " |")
        skipped = [f"- {name}: not run, {why}" for name, why in sorted(self._reasons.items())]
        return HEAD + "\n".join([*lines, "", *skipped]).rstrip() + "\n"


def _cell(outcomes: list[str]) -> str:
    ran = [each for each in outcomes if each in ("passed", "failed")]
    if not ran:
        return "–" if "lacking" in outcomes else "not run"
    passed = ran.count("passed")
    count = f" {passed}" if len(ran) > 1 else ""
    return f"yes{count}" if passed == len(ran) else f"**no** {passed}/{len(ran)}"


def _reason(told: Any) -> str:
    text = told[2] if isinstance(told, tuple | list) else str(told)
    return text.removeprefix("Skipped: ")
