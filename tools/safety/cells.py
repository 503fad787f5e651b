"""The verdict on a notebook cell: what it does that a person should know, before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tools.safety.python_code import effects_of_cell
from tools.safety.python_code.values import Value
from tools.safety.scene import Effect, Scene

LONGEST_REASON = 160


@dataclass(frozen=True, slots=True)
class CellJudgement:
    """What a cell does, and whether it may."""

    verdict: Literal["safe", "ask", "block"]
    effects: tuple[Effect, ...] = ()
    reason: str = ""


def judge_cell(text: str, cwd: str, known: Mapping[str, Value] | None = None) -> CellJudgement:
    """What a cell would do in a notebook's kernel, judged by its text.

    Parameters
    ----------
    text
        The cell, in Python and whatever IPython adds to it.
    cwd
        The folder in which the kernel is.
    known
        Values of variables that exist already.
    """
    scene = Scene.at(cwd)
    effects = effects_of_cell(text, scene, known)
    if not effects:
        return CellJudgement("safe")
    forbidden = [effect for effect in effects if effect.forbidden]
    reason = "; ".join(dict.fromkeys(effect.reason for effect in forbidden or effects))
    if len(reason) > LONGEST_REASON:
        reason = f"{reason[: LONGEST_REASON - 1]}…"
    return CellJudgement("block" if forbidden else "ask", tuple(effects), reason)
