"""The verdict on a notebook cell: what it does that a person should know, before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tools.safety.python_code import effects_of_cell
from tools.safety.python_code.values import Value
from tools.safety.scene import Effect, Scene
from tools.safety.telling import told


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
    forbidden = any(effect.forbidden for effect in effects)
    return CellJudgement("block" if forbidden else "ask", tuple(effects), told(effects))
