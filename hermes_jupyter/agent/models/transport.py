"""Requests to an endpoint, and the frames of its answers.

The one place that uses the ``openai`` package. It serves as transport (keys, proxies, TLS,
errors); requests and answers are plain JSON here, since servers differ from the types it knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from hermes_jupyter.agent.models import failures, wire
from hermes_jupyter.agent.models.failures import Endpoint
from tools.async_bridge import in_tool_thread

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
DRAIN_SECONDS = 0.2


class Transport:
    """The connections to one endpoint, as they are on the loop that asks."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        """Make ready to ask: the first time that takes a moment."""
        await self._opened()

    async def get(self, path: str) -> Any:
        """The JSON at a path."""
        client = await self._opened()
        return await client.get(path, cast_to=object)

    @asynccontextmanager
    async def post(self, path: str, body: bytes) -> AsyncIterator[AsyncIterator[bytes]]:
        """Send a request; gives the blocks of its answer.

        It is closed in any case, at once if the task is cancelled.
        """
        client = await self._opened()
        from openai import AsyncStream

        stream: AsyncStream[object] = await client.post(
            path,
            cast_to=object,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        try:
            yield stream.response.aiter_bytes()
        finally:
            await stream.close()

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

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


async def frames_of(
    blocks: AsyncIterator[bytes], on_life: Callable[[], None]
) -> AsyncGenerator[Any, None]:
    """The frames of an answer, up to its end; ``on_life`` hears of every sign of life."""
    async with aclosing(wire.frames(_alive(blocks, on_life))) as frames:
        async for frame in frames:
            yield frame
            if frame == wire.DONE:
                return


async def _alive(
    blocks: AsyncIterator[bytes], on_life: Callable[[], None]
) -> AsyncGenerator[bytes, None]:
    async for block in blocks:
        on_life()
        yield block


async def drain(blocks: AsyncIterator[bytes]) -> None:
    """Read what follows the end of the answer, so that the connection can be used again."""
    with suppress(TimeoutError, *failures.http_errors()):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in blocks:
                continue
