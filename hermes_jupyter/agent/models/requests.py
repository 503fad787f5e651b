"""The bodies of requests, in either API, without the fields that a server does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hermes_jupyter.agent.models import responses
from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.models.encoding import Encoder, dumped
from hermes_jupyter.agent.models.providers import Api, Provider
from hermes_jupyter.agent.models.shaping import has_images, shaped_message, shaped_tools
from hermes_jupyter.agent.models.wire import tool_name

MAY_GO = (
    "stream_options", "usage", "tool_choice", "include", "store", "temperature", "response_format",
)  # fmt: skip
"""Fields that a request is sent again without, if a server complains about them."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
LIMITS = ("max_tokens", "max_completion_tokens")


class Requests:
    """Writes the requests to one model.

    Parameters
    ----------
    extra
        Fields of every body, beside those of the provider.
    """

    def __init__(self, provider: Provider, extra: Mapping[str, Any], api: Api) -> None:
        self._provider, self._extra, self.api = provider, extra, api
        self._left_out: set[str] = set()
        self._sent: set[str] = set()
        self._limit = provider.answer_limit
        self._images = True
        self._may_prefill = True
        self._extras_sent = True
        self._had_extras = False
        self._had_images = False
        self._model = ""
        self._encoder = Encoder(self._shaped)
        self._tools: Sequence[Any] = ()

    @property
    def path(self) -> str:
        return responses.PATH if self.api == "responses" else "/chat/completions"

    @property
    def prefills(self) -> bool:
        return self._may_prefill and self._provider.prefill is not None and self.api == "chat"

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Any],
        max_answer: int,
        more: Mapping[str, Any] = NOTHING,
    ) -> bytes:
        """The body of a request; ``more`` are fields of this one alone."""
        if model != self._model:
            self._model, self._encoder = model, Encoder(self._shaped)
        fields = {"model": model, "stream": True, **self._fields(messages, tools, max_answer)}
        offered = tools
        if tools:
            self._tools = tools
        elif self._provider.keeps_tools and self._tools and _has_calls(messages):
            # The same bytes at the front as before, so that the provider's cache still hits.
            offered, fields = self._tools, {**fields, "tool_choice": "none"}
        fields |= {**self._extra, **more}
        fields = {name: value for name, value in fields.items() if name not in self._left_out}
        self._sent = set(fields)
        parts = [dumped(fields)[:-1]]
        if offered:
            parts += b',"tools":', self._encoder.tools(offered, self._shaped_tools)
        name = b',"messages":[' if self.api == "chat" else b',"input":['
        return b"".join((*parts, name, self._encoder.messages(messages), b"]}"))

    def leave_out(self, is_rejected: Callable[[str], bool]) -> bool:
        """Go without a field that the server rejects; False if it is none that may go."""
        for name in MAY_GO:
            if name in self._sent and is_rejected(name):
                self._left_out.add(name)
                return True
        if self._limit in self._sent and is_rejected(self._limit):
            other = LIMITS[1 - LIMITS.index(self._limit)] if self._limit in LIMITS else ""
            if other and other not in self._left_out:
                self._left_out.add(self._limit)
                self._limit = other
                return True
        return False

    def stop_prefilling(self) -> None:
        """The server does not go on with unfinished messages after all."""
        self._may_prefill = False

    def use_responses(self) -> bool:
        """Change to the other API; False if it is in use."""
        changed = self.api != "responses"
        self.api, self._encoder = "responses", Encoder(self._shaped)
        return changed

    def take_images(self, *, taken: bool) -> None:
        """Send images, or words in their place."""
        if taken != self._images:
            self._images, self._encoder = taken, Encoder(self._shaped)

    def drop_images(self) -> bool:
        """Leave images out; False if there are none, or they are left out."""
        dropped = self._images and self._had_images
        if dropped:
            self.take_images(taken=False)
        return dropped

    def drop_extras(self) -> bool:
        """Give nothing back but the words; False if there was nothing else, or it is left out."""
        dropped = self._extras_sent and self._had_extras
        if dropped:
            self._extras_sent, self._encoder = False, Encoder(self._shaped)
        return dropped

    def _fields(
        self, messages: Sequence[Message], tools: Sequence[Any], max_answer: int
    ) -> dict[str, Any]:
        if self.api == "responses":
            limit = {"max_output_tokens": max_answer} if max_answer else {}
            return {**responses.BODY, **limit}
        fields: dict[str, Any] = {
            "stream_options": {"include_usage": True},
            **self._provider.body,
        }
        if choice := wanted_call(messages, tools):
            fields["tool_choice"] = choice
        if max_answer:
            fields[self._limit] = max_answer
        if self._provider.prefill and is_unfinished(messages):
            fields |= self._provider.prefill
        return fields

    def _shaped(self, message: Message) -> list[Any]:
        self._had_images = self._had_images or has_images((message,))
        if "extras" in message:
            self._had_extras = True
            if not self._extras_sent:
                message = {name: value for name, value in message.items() if name != "extras"}
        if self.api == "responses":
            return responses.items_of(message, self._model, images=self._images)
        if message.get("unfinished"):
            message = {name: value for name, value in message.items() if name != "unfinished"}
            if mark := self._provider.prefill_mark:
                message[mark] = True
        return [shaped_message(message, self._provider, self._model, images=self._images)]

    def _shaped_tools(self, tools: Sequence[Any]) -> list[Any]:
        shaped = shaped_tools(tools, self._provider)
        return responses.tools_of(shaped) if self.api == "responses" else shaped


def wanted_call(messages: Sequence[Message], tools: Sequence[Any]) -> Any:
    """What the last message says of the next answer: the field ``tool_choice``, or None.

    ``must_call`` names a tool, or is "any".
    """
    named = messages[-1].get("must_call") if messages else None
    if not named or not tools:
        return None
    is_offered = named in map(tool_name, tools)
    return {"type": "function", "function": {"name": named}} if is_offered else "required"


def is_unfinished(messages: Sequence[Message]) -> bool:
    """Does it end with an answer that the model shall go on with?"""
    return bool(messages) and bool(messages[-1].get("unfinished"))


def _has_calls(messages: Sequence[Message]) -> bool:
    return any(message.get("tool_calls") for message in reversed(messages))
