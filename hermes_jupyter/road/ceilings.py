"""How much a model reads of the results of a step: shares of its context window.

One huge result must not push the conversation out of the window, nor many of them together. The
largest give way first, and all of it stays within reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hermes_jupyter.calls import ToolResult
from hermes_jupyter.road.cutting import allotted
from hermes_jupyter.road.pages import READER, shorter_page
from hermes_jupyter.road.results import Keeper, shortened

CHARS_PER_TOKEN = 4
USUAL_WINDOW = 128_000
"""Tokens, of a model that does not say how large its window is."""
RESULT_SHARE, LEAST_RESULT = 0.15, 8_000
STEP_SHARE, LEAST_STEP = 0.30, 16_000
TURN_SHARE = 0.60
FILLING = "The context window is filling up: read only what you need."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """The most characters that may be read of one result, in one step, in one turn."""

    result: int
    step: int
    turn: int

    def after(self, spent: int) -> Ceilings:
        """For the next step of a turn whose results already take ``spent`` characters.

        It may take half of what is left, so that a turn never comes to its end in one step.
        """
        step = max(LEAST_STEP, min(self.step, (self.turn - spent) // 2))
        return Ceilings(result=min(self.result, step), step=step, turn=self.turn)


def ceilings(window: int) -> Ceilings:
    """Of a model whose window has so many tokens; 0 if that is not known."""
    chars = CHARS_PER_TOKEN * (window or USUAL_WINDOW)
    return Ceilings(
        result=max(LEAST_RESULT, int(chars * RESULT_SHARE)),
        step=max(LEAST_STEP, int(chars * STEP_SHARE)),
        turn=int(chars * TURN_SHARE),
    )


def fit(
    results: Sequence[ToolResult],
    most: Ceilings,
    keeper: Keeper | None = None,
    *,
    sources: Sequence[str] = (),
    hint: str = "",
) -> list[ToolResult]:
    """The results of a step, no longer than allowed. What is cut is kept whole.

    Parameters
    ----------
    sources
        Of each result: where it is from, if that is not to be trusted.
    hint
        What else to tell the reader of a result that is cut.
    """
    rooms = allotted([min(len(result.text), most.result) for result in results], most.step)
    from_where = sources or [""] * len(results)
    return [
        result if len(result.text) <= room else _shorter(result, room, keeper, source, hint)
        for result, room, source in zip(results, rooms, from_where, strict=True)
    ]


def _shorter(
    result: ToolResult, room: int, keeper: Keeper | None, source: str, hint: str
) -> ToolResult:
    if result.call.name == READER:
        return replace(result, text=shorter_page(result.text, room))
    whole, handle = result.text, result.handle
    if keeper is not None:
        try:
            whole = keeper.whole(handle) if handle else whole
        except LookupError:  # it had to make room meanwhile; what there is of it is kept anew
            handle = ""
        handle = handle or keeper.keep(whole, source)
    shaped = shortened(whole, room, handle, hint)
    return replace(result, text=shaped.text, handle=handle, total_chars=shaped.total_chars)
