"""A model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import difflib
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from hermes_jupyter.agent.models import failures, responses, sight, wire
from hermes_jupyter.agent.models.base import Delta, Message, Reply
from hermes_jupyter.agent.models.failures import Endpoint
from hermes_jupyter.agent.models.prices import Price, listed_price, price_of, priced
from hermes_jupyter.agent.models.providers import Api, Provider, provider_at
from hermes_jupyter.agent.models.requests import NOTHING, Requests, is_unfinished
from hermes_jupyter.agent.models.silence import Silence
from hermes_jupyter.agent.models.streams import FAILED_FINISHES, ReplyBuilder
from hermes_jupyter.agent.models.transport import OPENAI_URL, Transport, drain
from hermes_jupyter.errors import ConfigurationError, ModelError

LIST_SECONDS = 3.0
MAX_NAMES_SHOWN = 3
WRONG_API = "v1/responses"
"""What OpenAI says of models that only the other interface serves."""


class OpenAIModel:
    """A model that is asked over HTTP.

    Parameters
    ----------
    name
        As the endpoint calls it; if empty, the first one that the endpoint offers.
    base_url
        The endpoint, usually ending in ``/v1``; that of OpenAI if empty.
    api_key
        Local servers need none.
    provider
        Who serves there; None takes whom the address tells.
    api
        ``chat`` or ``responses``; empty takes what suits the model.
    timeout
        Longest silence before an answer begins, in seconds; 0 takes the provider's.
    stall_timeout
        Longest silence in the middle of one; 0 takes the provider's.
    extra
        More fields of the request's body, such as ``temperature``.
    window
        Tokens of the context window; 0 takes what the endpoint says, if it says anything.
    prices
        The user's own: see `prices.price_of`.
    sees
        Whether it sees images; None takes what its server says, or its name tells.

    Raises
    ------
    ConfigurationError
        If the address or the key cannot be one.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        provider: Provider | None = None,
        api: Api | None = None,
        timeout: float = 0.0,
        stall_timeout: float = 0.0,
        extra: Mapping[str, Any] | None = None,
        window: int = 0,
        prices: Mapping[str, Any] | None = None,
        sees: bool | None = None,
    ) -> None:
        self.name = name
        self.window = window
        url = _checked_url(base_url or OPENAI_URL)
        self.provider = provider or provider_at(url)
        self._first = timeout or self.provider.first_token
        self._between = stall_timeout or (
            min(timeout, self.provider.between_tokens) if timeout else self.provider.between_tokens
        )
        self._endpoint = Endpoint(
            base_url=url,
            model=name,
            api_key=_checked_key(api_key or ""),
            timeout=max(self._first, self._between),
        )
        self._transport = Transport(self._endpoint)
        self._requests = Requests(self.provider, extra or {}, api or _api_for(name, self.provider))
        self._told_prices = prices or {}
        self._sees = sees
        self._refuses_images = False
        self._listed_price: Price | None = None

    @property
    def price(self) -> Price | None:
        return price_of(self.name, self.provider, self._told_prices) or self._listed_price

    @property
    def prefills(self) -> bool:
        return self._requests.prefills

    @property
    def sees(self) -> bool:
        if self._refuses_images or self._sees is not None:
            return bool(self._sees) and not self._refuses_images
        return sight.sees(self.name, self.provider)

    def drop_images(self) -> bool:
        """Leave images out from now on; False if that was done already."""
        dropped = self._requests.drop_images()
        self._refuses_images = self._refuses_images or dropped
        return dropped

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
        *,
        max_answer: int = 0,
        more: Mapping[str, Any] = NOTHING,
    ) -> Reply:
        """Ask for one reply. See `base.Model`; ``more`` are fields of this request alone."""
        if not self.name:
            await self._take_first_offered()
        self._requests.take_images(taken=self.sees)
        builder = ReplyBuilder(on_delta, [*map(wire.tool_name, tools)], self.provider.echo)
        await self._transport.open()
        silence = Silence(self._first, self._between)
        try:
            async with silence:
                write = partial(self._requests.body, self.name, messages, tools, max_answer, more)
                reply = await self._asked(write, messages, builder, silence)
        except TimeoutError:
            raise failures.stalled(self._endpoint, builder.received, silence.seconds) from None
        except failures.http_errors() as error:
            raise failures.translate(error, self._endpoint, received=builder.received) from error
        if reply.finish == "content_filter" and not (reply.text or reply.calls):
            raise failures.filtered(self._endpoint)
        usage = priced(reply.usage, self.price, builder.reported_cost, self._host)
        extras = {"model": self.name, **reply.extras} if reply.extras else {}
        return replace(reply, usage=usage, extras=extras)

    async def learn(self) -> None:
        """Find out price and window. See `base.Model`."""
        if not self.name:
            await self._take_first_offered()
        elif not (self.window and self.price):
            await self._offered()

    async def list_models(self) -> list[str]:
        """Names of the models that the endpoint offers."""
        return [str(model["id"]) for model in await self._offered()]

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    @property
    def _host(self) -> str:
        return urlsplit(self._endpoint.base_url).hostname or ""

    async def _asked(
        self,
        write: Callable[[], bytes],
        messages: Sequence[Message],
        builder: ReplyBuilder,
        silence: Silence,
    ) -> Reply:
        """One answer. A field that the server does not know is left out from then on."""
        from openai import OpenAIError

        while True:
            try:
                async with self._transport.post(self._requests.path, write()) as blocks:
                    return await self._read(blocks, builder, silence)
            except OpenAIError as error:
                if WRONG_API in str(error) and self._requests.use_responses():
                    continue
                if failures.rejects_thoughts(error) and self._requests.drop_extras():
                    continue
                if failures.rejects(error, "") and is_unfinished(messages):
                    self._requests.stop_prefilling()
                    raise self._broken(builder, "it does not go on with its own words") from error
                if not self._requests.leave_out(partial(failures.rejects, error)):
                    raise await self._explained(error) from error

    async def _read(self, blocks: Any, builder: ReplyBuilder, silence: Silence) -> Reply:
        take = self._taker(builder)
        done = False
        try:
            async with aclosing(wire.frames(blocks, silence.life)) as frames:
                async for frame in frames:
                    if done := frame == wire.DONE:
                        break
                    if isinstance(frame, dict):
                        take(frame)
                        if builder.has_begun:
                            silence.spoken()
        except wire.WebPage:
            raise failures.no_endpoint(self._endpoint, "HTML") from None
        except wire.UnreadableFrame as error:
            raise self._broken(builder, f"unreadable: {error}") from None
        if builder.is_empty() or not (done or builder.finish_reason):
            raise self._broken(builder, "it ended too early")
        if builder.finish_reason in FAILED_FINISHES:
            raise self._broken(builder, f"it ended with {builder.finish_reason!r}")
        await drain(blocks)
        return builder.reply()

    def _taker(self, builder: ReplyBuilder) -> Callable[[dict[str, Any]], None]:
        is_chat = self._requests.api == "chat"
        add = builder.add if is_chat else responses.Events(builder).add

        def take(frame: dict[str, Any]) -> None:
            error = _error_of(frame) if is_chat else responses.error_of(frame)
            if error:
                raise failures.stream_error(error, self._endpoint, received=builder.received)
            add(frame)

        return take

    def _broken(self, builder: ReplyBuilder, why: str) -> ModelError:
        return failures.broken_stream(self._endpoint, builder.received, why)

    async def _offered(self) -> list[dict[str, Any]]:
        from openai import OpenAIError

        try:
            answer = await self._transport.get("/models")
        except OpenAIError as error:
            raise failures.translate(error, self._endpoint) from error
        offered = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(offered, list):
            raise failures.no_endpoint(self._endpoint, "no list of models")
        models = [model for model in offered if isinstance(model, dict) and "id" in model]
        self._take_from(next((each for each in models if str(each["id"]) == self.name), {}))
        return models

    def _take_from(self, entry: Mapping[str, Any]) -> None:
        self.window = self.window or wire.window_of(entry)
        if self._sees is None:
            self._sees = sight.told_by(entry)
        if self.provider.lists_prices:
            self._listed_price = listed_price(entry, self._host) or self._listed_price

    async def _take_first_offered(self) -> None:
        offered = await self._offered()
        if not offered:
            raise failures.no_models(self._endpoint)
        self.name = str(offered[0]["id"])
        self._take_from(offered[0])
        self._endpoint = replace(self._endpoint, model=self.name)

    async def _explained(self, error: Exception) -> ModelError:
        """What went wrong, with the names of models that are there if ours is not."""
        failure = failures.translate(error, self._endpoint)
        if failure.kind != "not_found":
            return failure
        try:
            async with asyncio.timeout(LIST_SECONDS):
                offered = await self.list_models()
        except (ModelError, TimeoutError):
            return failure
        near = difflib.get_close_matches(self.name, offered, MAX_NAMES_SHOWN, cutoff=0.4)
        names = ", ".join(near or offered[:MAX_NAMES_SHOWN]) or "none"
        return ModelError(f"{failure}; it offers {names}", kind="not_found")


def _error_of(frame: dict[str, Any]) -> Any:
    return frame if frame.get("object") == "error" else frame.get("error")


def _api_for(name: str, provider: Provider) -> Api:
    only = any(fnmatch.fnmatch(name.lower(), pattern) for pattern in provider.responses_only)
    return "responses" if only else provider.api


def _checked_url(url: str) -> str:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or " " in parts.netloc:
        raise ConfigurationError(
            f"base_url must be an address like http://localhost:8080/v1, not {url!r}"
        )
    return url.strip()


def _checked_key(key: str) -> str:
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigurationError("the API key contains characters that no key has: copy it again")
    return key
