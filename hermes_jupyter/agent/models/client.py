"""A model behind an OpenAI-compatible endpoint.

The one place that uses the ``openai`` package. It serves as transport (keys, proxies, TLS,
errors); requests and answers are plain JSON here, since servers differ from the types it knows.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hermes_jupyter.agent.models import failures, wire
from hermes_jupyter.agent.models.base import Delta, Message, Reply
from hermes_jupyter.agent.models.failures import Endpoint
from hermes_jupyter.agent.models.streams import ReplyBuilder
from hermes_jupyter.errors import ConfigurationError, ModelError
from tools.async_bridge import in_tool_thread

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
LIST_SECONDS = 3.0
DRAIN_SECONDS = 0.2
MAX_NAMES_SHOWN = 3


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
    timeout
        Longest silence of the server in seconds.
    extra
        More fields of the request's body, such as ``temperature``.
    window
        Tokens of the context window; 0 takes what the endpoint says, if it says anything.

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
        timeout: float = 600.0,
        extra: Mapping[str, Any] | None = None,
        window: int = 0,
    ) -> None:
        self.name = name
        self.window = window
        self._endpoint = Endpoint(
            base_url=_checked_url(base_url or OPENAI_URL),
            model=name,
            api_key=_checked_key(api_key or ""),
            timeout=timeout,
        )
        self._extra = dict(extra or {})
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._usage_refused = False

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
    ) -> Reply:
        """Ask for one reply. See `base.Model`."""
        if not self.name:
            await self._take_first_offered()
        body = wire.request_body(self.name, messages, tools, self._extra)
        builder = ReplyBuilder(on_delta, [wire.tool_name(tool) for tool in tools])
        try:
            async with self._answer(body) as stream:
                return await self._read(stream, builder)
        except failures.http_errors() as error:
            raise failures.translate(error, self._endpoint, received=builder.received) from error

    async def list_models(self) -> list[str]:
        """Names of the models that the endpoint offers."""
        return [str(model["id"]) for model in await self._offered()]

    async def _offered(self) -> list[dict[str, Any]]:
        client = await self._opened()
        from openai import OpenAIError

        try:
            answer = await client.get("/models", cast_to=object)
        except OpenAIError as error:
            raise failures.translate(error, self._endpoint) from error
        offered = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(offered, list):
            raise failures.no_endpoint(self._endpoint, "no list of models")
        models = [model for model in offered if isinstance(model, dict) and "id" in model]
        named = next((model for model in models if str(model["id"]) == self.name), {})
        self.window = self.window or wire.window_of(named)
        return models

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _take_first_offered(self) -> None:
        offered = await self._offered()
        if not offered:
            raise failures.no_models(self._endpoint)
        self.name = str(offered[0]["id"])
        self.window = self.window or wire.window_of(offered[0])
        self._endpoint = replace(self._endpoint, model=self.name)

    async def _opened(self) -> AsyncOpenAI:
        if self._endpoint.base_url == OPENAI_URL and not self._endpoint.api_key:
            raise failures.no_key(self._endpoint)
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # The import takes half a second: not on the loop. A client's connections belong to
            # the loop that made them, so one that took over needs its own.
            opened = await in_tool_thread(self._open)
            if self._client is None or self._loop is not loop:
                self._client, self._loop = opened, loop
        return self._client

    def _open(self) -> AsyncOpenAI:
        import openai

        timeout = self._endpoint.timeout
        return openai.AsyncOpenAI(
            api_key=self._endpoint.api_key or "none",
            base_url=self._endpoint.base_url,
            timeout=openai.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
            max_retries=0,  # the loop retries, and tells the person
        )

    @asynccontextmanager
    async def _answer(self, body: dict[str, Any]) -> AsyncIterator[AsyncStream[object]]:
        """The open answer of the server; closed in any case, at once if the task is cancelled."""
        stream = await self._post(body)
        try:
            yield stream
        finally:
            await stream.close()

    async def _post(self, body: dict[str, Any]) -> AsyncStream[object]:
        client = await self._opened()
        from openai import AsyncStream, OpenAIError

        if self._usage_refused:
            body = {key: value for key, value in body.items() if key != "stream_options"}
        try:
            return await client.post(
                "/chat/completions",
                cast_to=object,
                body=body,
                stream=True,
                stream_cls=AsyncStream[object],
            )
        except OpenAIError as error:
            if "stream_options" not in body or not failures.rejects(error, "stream_options"):
                raise await self._explained(error) from error
        self._usage_refused = True
        return await self._post(body)

    async def _read(self, stream: AsyncStream[object], builder: ReplyBuilder) -> Reply:
        blocks = stream.response.aiter_bytes()
        done = False
        try:
            async with aclosing(wire.frames(blocks)) as frames:
                async for frame in frames:
                    if done := frame == wire.DONE:
                        break
                    self._take(frame, builder)
        except wire.WebPage:
            raise failures.no_endpoint(self._endpoint, "HTML") from None
        except wire.UnreadableFrame as error:
            raise self._broken(builder, f"unreadable: {error}") from None
        if builder.is_empty() or not (done or builder.finish_reason):
            raise self._broken(builder, "it ended too early")
        await _drain(blocks)
        return builder.reply()

    def _take(self, frame: Any, builder: ReplyBuilder) -> None:
        if not isinstance(frame, dict):
            return
        error = frame if frame.get("object") == "error" else frame.get("error")
        if error:
            raise failures.stream_error(error, self._endpoint, received=builder.received)
        builder.add(frame)

    def _broken(self, builder: ReplyBuilder, why: str) -> ModelError:
        return failures.broken_stream(self._endpoint, builder.received, why)

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


async def _drain(blocks: AsyncIterator[bytes]) -> None:
    """Read what follows the end of the answer, so that the connection can be used again."""
    with suppress(TimeoutError, *failures.http_errors()):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in blocks:
                continue


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
