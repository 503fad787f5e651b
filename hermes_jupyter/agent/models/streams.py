"""The pieces of a streamed answer become deltas for people and one `Reply` for the loop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Reply
from hermes_jupyter.agent.models.native_calls import CallAssembler
from hermes_jupyter.agent.models.text_calls import TextCallFilter
from hermes_jupyter.agent.models.think_tags import ThinkTagFilter, parted
from hermes_jupyter.calls import Usage

_CALL_FINISHES = ("function_call", "tool_calls", "tool_use")
_CUT_FINISHES = ("length", "max_tokens", "max_output_tokens", "model_length")
_FILTER_FINISHES = ("content_filter", "safety", "recitation", "prohibited_content", "blocklist")
FAILED_FINISHES = ("error", "insufficient_system_resource", "abort")
"""The server could not go on, and says so as if it were an end."""


class ReplyBuilder:
    """Collects one answer.

    Parameters
    ----------
    on_delta
        Told each piece of text and of reasoning as soon as it is certain to be that.
    tool_names
        The tools offered: calls of these are found in the text as well.
    echo
        Fields of the answer that must go back with it.
    """

    def __init__(
        self,
        on_delta: Callable[[Delta], None],
        tool_names: Collection[str],
        echo: Collection[str] = (),
    ) -> None:
        self._on_delta = on_delta
        self._thoughts = ThinkTagFilter()
        self._text_calls = TextCallFilter(tool_names) if tool_names else None
        self._native_calls = CallAssembler(echo)
        self._echo = echo
        self._extras: dict[str, Any] = {}
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._usage = Usage(model_calls=1)
        self.reported_cost: float | None = None
        """Dollars, if the provider says so."""
        self.finish_reason = ""
        self.received = 0
        """Characters of text and reasoning so far, shown or not."""

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take a chunk of a stream, or a whole completion."""
        if isinstance(usage := chunk.get("usage"), Mapping):
            self._usage = _usage(usage)
            cost = usage.get("cost")
            number = isinstance(cost, int | float) and not isinstance(cost, bool)
            self.reported_cost = float(cost or 0) if number else None
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return  # the chunk with the usage has none
        self.finish_reason = str(choice.get("finish_reason") or self.finish_reason)
        if isinstance(delta := choice.get("delta"), Mapping):
            self._add_message(delta, self._native_calls.add)
        elif isinstance(message := choice.get("message"), Mapping):
            self._add_message(message, self._native_calls.add_whole)

    def keep(self, name: str, value: Any) -> None:
        """Something that must go back with the answer."""
        self._extras.setdefault(name, []).append(value)

    @property
    def has_begun(self) -> bool:
        """Whether the model has begun to write."""
        return bool(self.received or self._native_calls)

    def is_empty(self) -> bool:
        """Whether nothing has come that a reply could be made of."""
        return not (self.has_begun or self.finish_reason)

    def reply(self) -> Reply:
        """The whole answer, when it is over. Tells what was held back."""
        self._take(self._thoughts.finish())
        finish = _finish(self.finish_reason)
        calls = self._native_calls.finish(is_cut=finish == "length")
        if self._text_calls is not None:
            rest, printed = self._text_calls.finish()
            self._tell("text", rest)
            calls = calls or printed
        if calls and finish == "stop":
            finish = "tool_calls"
        reasoning, text = "".join(self._reasoning), "".join(self._text)
        if not reasoning:
            reasoning, text = parted(text)
        return Reply(
            text=text,
            reasoning=reasoning,
            calls=calls,
            finish=finish,
            usage=self._usage,
            extras=self._to_echo(),
        )

    def _to_echo(self) -> dict[str, Any]:
        extras = {name: value for name, value in self._extras.items() if name == "items"}
        message = {name: _joined(self._extras[name]) for name in self._echo if name in self._extras}
        calls = self._native_calls.extras()
        return {
            **extras,
            **({"message": message} if message else {}),
            **({"calls": calls} if calls else {}),
        }

    def _add_message(self, message: Mapping[str, Any], add_calls: Callable[[Any], None]) -> None:
        for name in self._echo:
            if message.get(name):
                self.keep(name, message[name])
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


def _finish(said: str) -> str:
    said = said.lower()
    if said in _CALL_FINISHES:
        return "tool_calls"
    if said in _CUT_FINISHES:
        return "length"
    return "content_filter" if said in _FILTER_FINISHES else "stop"


def _joined(pieces: Sequence[Any]) -> Any:
    """Pieces of a text, or of a list whose entries were streamed in pieces as well."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    entries: list[dict[str, Any]] = []
    for piece in pieces:
        for entry in piece if isinstance(piece, list) else [piece]:
            if entries and _is_same(entries[-1], entry):
                _extend(entries[-1], entry)
            elif isinstance(entry, Mapping):
                entries.append(dict(entry))
    return entries


def _is_same(one: Mapping[str, Any], other: Any) -> bool:
    return isinstance(other, Mapping) and all(
        one.get(name) == other.get(name) for name in ("type", "index")
    )


def _extend(entry: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if name in ("text", "summary") and isinstance(value, str):
            entry[name] = (entry.get(name) or "") + value
        elif value is not None:
            entry[name] = value


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
    return max(0, int(value)) if isinstance(value, int | float) and value == value else 0
