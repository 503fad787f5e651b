"""The pieces of a streamed answer become deltas for people and one `Reply` for the loop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Reply
from hermes_jupyter.agent.models.native_calls import CallAssembler
from hermes_jupyter.agent.models.text_calls import TextCallFilter
from hermes_jupyter.agent.models.think_tags import ThinkTagFilter
from hermes_jupyter.calls import Usage

_CALL_FINISHES = ("function_call", "tool_calls", "tool_use")


class ReplyBuilder:
    """Collects one answer.

    Parameters
    ----------
    on_delta
        Told each piece of text and of reasoning as soon as it is certain to be that.
    tool_names
        The tools offered: calls of these are found in the text as well.
    """

    def __init__(self, on_delta: Callable[[Delta], None], tool_names: Collection[str]) -> None:
        self._on_delta = on_delta
        self._thoughts = ThinkTagFilter()
        self._text_calls = TextCallFilter(tool_names) if tool_names else None
        self._native_calls = CallAssembler()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._usage = Usage(model_calls=1)
        self.finish_reason = ""
        self.received = 0
        """Characters of text and reasoning so far, shown or not."""

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take a chunk of a stream, or a whole completion."""
        if isinstance(usage := chunk.get("usage"), Mapping):
            self._usage = _usage(usage)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return  # the chunk with the usage has none
        self.finish_reason = str(choice.get("finish_reason") or self.finish_reason)
        if isinstance(delta := choice.get("delta"), Mapping):
            self._add_message(delta, self._native_calls.add)
        elif isinstance(message := choice.get("message"), Mapping):
            self._add_message(message, self._native_calls.add_whole)

    def is_empty(self) -> bool:
        """Whether nothing has come that a reply could be made of."""
        return not (self.received or self._native_calls or self.finish_reason)

    def reply(self) -> Reply:
        """The whole answer, when it is over. Tells what was held back."""
        self._take(self._thoughts.finish())
        calls = self._native_calls.finish()
        if self._text_calls is not None:
            rest, printed = self._text_calls.finish()
            self._tell("text", rest)
            calls = calls or printed
        finish = self.finish_reason or "stop"
        if finish in _CALL_FINISHES or (calls and finish == "stop"):
            finish = "tool_calls"
        return Reply(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=calls,
            finish=finish,
            usage=self._usage,
        )

    def _add_message(self, message: Mapping[str, Any], add_calls: Callable[[Any], None]) -> None:
        # Some servers send the same thoughts under both names.
        thoughts = message.get("reasoning_content") or message.get("reasoning")
        if isinstance(thoughts, str):
            self.received += len(thoughts)
            self._tell("reasoning", thoughts)
        for delta in _content(message.get("content") or message.get("refusal")):
            self.received += len(delta.text)
            if delta.kind == "reasoning":
                self._tell("reasoning", delta.text)
            else:
                self._take(self._thoughts.feed(delta.text))
        add_calls(message.get("tool_calls"))
        if isinstance(function := message.get("function_call"), Mapping):  # before tool_calls
            self._native_calls.add([{"index": 0, "function": function}])

    def _take(self, deltas: Iterator[Delta]) -> None:
        for delta in deltas:
            text = delta.text
            if delta.kind == "text" and self._text_calls is not None:
                text = self._text_calls.feed(text)
            self._tell(delta.kind, text)

    def _tell(self, kind: Any, text: str) -> None:
        if not text:
            return
        (self._reasoning if kind == "reasoning" else self._text).append(text)
        self._on_delta(Delta(kind, text))


def _content(content: Any) -> Iterator[Delta]:
    """Text of a content: a string, or a list of parts of which some are thoughts (Mistral)."""
    if isinstance(content, str):
        yield Delta("text", content)
        return
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "thinking":
            yield from (Delta("reasoning", d.text) for d in _content(part.get("thinking")))
        elif isinstance(part.get("text"), str):
            yield Delta("text", part["text"])


def _usage(said: Mapping[str, Any]) -> Usage:
    details = said.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    cached = details.get("cached_tokens", said.get("prompt_cache_hit_tokens"))
    return Usage(
        prompt_tokens=_count(said.get("prompt_tokens")),
        completion_tokens=_count(said.get("completion_tokens")),
        cached_tokens=_count(cached),
        model_calls=1,
    )


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
