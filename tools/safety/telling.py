"""Effects in words for a person: the gravest first, like ones together, no more than three."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tools.safety.effect import RISKS, Effect

MOST_REASONS = 3
MOST_NAMES = 6
LONGEST_REASON = 200
GIVEN = "what it is given"
_SIMPLE = re.compile(r"(?P<verb>deletes|overwrites|installs|moves) (?P<name>[^,;:]{1,80})")
_UNKNOWN = re.compile(r"\{[^{}]*\}")


def told(effects: Iterable[Effect]) -> str:
    """Why a person is asked, or why something is blocked, in one line."""
    every = list(effects)
    chosen = [each for each in every if each.forbidden] or every
    chosen.sort(key=lambda each: -RISKS.index(each.risk))  # which keeps the order of equal ones
    reasons = _together(list(dict.fromkeys(each.reason for each in chosen)))
    more = len(reasons) - MOST_REASONS
    text = "; ".join(reasons[:MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _together(reasons: Sequence[str]) -> list[str]:
    """``deletes a`` and ``deletes b`` as one; what is not known is left out beside what is."""
    found: dict[str, list[str]] = {}
    for reason in reasons:
        simple = _SIMPLE.fullmatch(reason)
        verb = simple.group("verb") if simple else reason
        found.setdefault(verb, []).extend([simple.group("name")] if simple else [])
    return [f"{verb} {listed(_known(names))}" if names else verb for verb, names in found.items()]


def _known(names: list[str]) -> list[str]:
    return [each for each in names if not _UNKNOWN.search(each)] or names[:1]


def listed(names: Sequence[str], where: str = "") -> str:
    """Paths by name, and by their number if there are several."""
    if not names:
        return GIVEN
    if len(names) == 1:
        return names[0] + (f",{where}" if where else "")
    number = f"{len(names)} paths{where}"
    return number if len(names) > MOST_NAMES else f"{number}: {', '.join(names)}"
