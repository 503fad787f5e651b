"""Requests to an endpoint, and the frames of its answers.

The one place that uses the ``openai`` package. It serves as transport (keys, proxies, TLS,
errors); requests and answers are plain JSON here, since servers differ from the types it knows.
The first request to a path is its work. Those after it are like the first but for their body, and
go the shorter way to its HTTP client, which saves a quarter of what a step costs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from hermes_jupyter.agent.models import failures
from hermes_jupyter.agent.models.failures import Endpoint
from tools.async_bridge import in_tool_thread

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10.0
DRAIN_SECONDS = 0.2
TELEMETRY = "x-stainless-"
"""Headers in which ``openai`` describes the machine. No answer depends on them."""


class Transport:
    """The connections to one endpoint, as they are on the loop that asks."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: AsyncOpenAI | None = None
        self._http: Any = None
        self._again: dict[str, Repeated] = {}
        """What was sent before, by its path."""
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
        response = await self._send(path, body)
        try:
            yield response.aiter_bytes()
        finally:
            await response.aclose()

    async def _send(self, path: str, body: bytes) -> Any:
        """The response to a request; its body is still to come."""
        client = await self._opened()
        again = self._again.get(path)
        if again is not None:
            return await again.send(body)
        from openai import AsyncStream

        stream: AsyncStream[object] = await client.post(
            path,
            cast_to=object,
            content=body,
            options={"headers": {"Content-Type": "application/json"}},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        response: Any = stream.response
        if self._http is not None and not response.history:
            self._again[path] = Repeated(self._http, response.request)
        return response

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
            client, http = await in_tool_thread(self._open)
            if self._client is None or self._loop is not loop:
                self._client, self._http, self._loop = client, http, loop
                self._again = {}
        return self._client

    def _open(self) -> tuple[AsyncOpenAI, Any]:
        import openai

        limit = self._endpoint.timeout
        timeout = openai.Timeout(limit, connect=min(limit, CONNECT_SECONDS))
        http = openai.DefaultAsyncHttpxClient(timeout=timeout)
        client = openai.AsyncOpenAI(
            api_key=self._endpoint.api_key or "none",
            base_url=self._endpoint.base_url,
            timeout=timeout,
            max_retries=0,  # the loop retries, and tells the person
            http_client=http,
        )
        return client, http


def errors() -> tuple[type[Exception], ...]:
    """Base exceptions of what can go wrong with a request, once one was made."""
    import openai

    return (openai.OpenAIError, *failures.http_errors())


class Repeated:
    """A request that was sent before, to be sent with other bodies.

    Parameters
    ----------
    http
        The HTTP client, of ``httpx`` or ``httpx2``.
    first
        The request of its kind, as ``openai`` has made it.
    """

    def __init__(self, http: Any, first: Any) -> None:
        self._http, self._first = http, first
        self._headers = first.headers.copy()
        for name in [*self._headers]:
            if name in ("content-length", "cookie") or name.startswith(TELEMETRY):
                del self._headers[name]

    async def send(self, body: bytes) -> Any:
        """The response, its body still to come.

        Raises
        ------
        openai.OpenAIError
            For a status that means failure.
        Exception
            One of `failures.http_errors` for what goes wrong on the way.
        """
        first = self._first
        request = type(first)(
            first.method,
            first.url,
            headers=self._headers,
            content=body,
            extensions=first.extensions,
        )
        if len(self._http.cookies):
            self._http.cookies.set_cookie_header(request)
        response = await self._http.send(request, stream=True)
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            raise await _failure(response)
        return response


async def _failure(response: Any) -> Exception:
    """What ``openai`` would raise for it."""
    from openai import APIStatusError

    try:
        await response.aread()
    finally:
        await response.aclose()
    text = response.text.strip()
    try:
        body = json.loads(text)
    except ValueError:
        body = text
    said = f"Error code: {response.status_code} - {body}"
    return APIStatusError(said, response=response, body=_inner(body))


def _inner(body: Any) -> Any:
    return body.get("error", body) if isinstance(body, dict) else body


async def drain(blocks: AsyncIterator[bytes]) -> None:
    """Read what follows the end of the answer, so that the connection can be used again."""
    with suppress(TimeoutError, *failures.http_errors()):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in blocks:
                continue
