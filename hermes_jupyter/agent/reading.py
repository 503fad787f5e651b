"""What the model reads of the results of its calls: what fits its window, with fences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.pictures import blind_note, message_of
from hermes_jupyter.calls import ToolResult
from hermes_jupyter.road.ceilings import FILLING, Ceilings, ceilings, fit
from hermes_jupyter.road.fences import FENCE_CHARS, fenced, source_of
from hermes_jupyter.road.pages import READER
from hermes_jupyter.road.results import Keeper
from tools.async_bridge import in_tool_thread
from tools.view import RegistryView

LONG_CHARS = 300_000
"""To cut what is longer would hold up the loop."""


@dataclass(kw_only=True)
class Reading:
    """Turns the results of a turn's calls into messages. Remembers how much it let through."""

    tools: RegistryView
    window: Callable[[], int]
    """Tokens of the model's window; 0 if that is not known."""
    keeper: Keeper | None = None
    """Where whole results are kept; None if the model cannot read there."""
    sees: Callable[[], bool] = bool
    """Whether the model is given images."""
    known_images: Callable[[], Iterable[str]] = tuple
    """The names of images that it has."""
    spent: int = 0

    async def messages(self, results: Sequence[ToolResult]) -> list[Message]:
        """The results as the model reads them."""
        if sum(max(len(result.text), result.total_chars) for result in results) > LONG_CHARS:
            return await in_tool_thread(lambda: self.messages_now(results))
        return self.messages_now(results)

    def messages_now(self, results: Sequence[ToolResult]) -> list[Message]:
        """The same, without a pause in which an interrupt could come."""
        sources = [self._source(result) for result in results]
        whole = ceilings(self.window())
        most = whole.after(self.spent)
        outside = FENCE_CHARS * sum(map(bool, sources))
        shorter = fit(
            results,
            Ceilings(result=most.result, step=most.step - outside, turn=most.turn),
            self.keeper,
            sources=sources,
            hint=FILLING if most.step < whole.step else "",
        )
        texts = [
            fenced(result.text, source) if source else result.text
            for result, source in zip(shorter, sources, strict=True)
        ]
        self.spent += sum(map(len, texts))
        sees = self.sees()
        notes = ["" if sees else blind_note(result) for result in results]
        messages: list[Message] = [
            {"role": "tool", "tool_call_id": result.call.id, "content": text + note}
            for result, text, note in zip(results, texts, notes, strict=True)
        ]
        images = message_of(results, self.known_images()) if sees else None
        return [*messages, images] if images else messages

    def _source(self, result: ToolResult) -> str:
        """Where its text is from, if that is outside; what we say ourselves needs no fence."""
        entry = self.tools.get_entry(result.call.name)
        if entry is None or result.status == "denied" or result.mistake:
            return ""
        if entry.name == READER and self.keeper is not None:
            args = result.call.args if result.args is None else result.args
            return self.keeper.source(str(args.get("handle", "")))
        return source_of(entry)
