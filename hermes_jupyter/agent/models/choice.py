"""Which model serves a turn: the user's endpoint, or the embedded one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Message, Model, Reply
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.agent.models.local import CONTEXT, MODELS, LocalServer, installed, shared_server
from hermes_jupyter.errors import ModelError
from hermes_jupyter.settings import Settings

LOCAL = "local"
READING = "The local model reads its instructions: a minute or more the first time, seconds later."
CRASH_SECONDS = 0.5
CRASH_LOOKS = 10
OPENAI_DEFAULT = "gpt-5-mini"
"""Asked of api.openai.com if the user names no model; other endpoints tell what they have."""
NO_MODEL = (
    "no model is connected. Set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint), "
    'or install the small embedded one: pip install "hermes-jupyter[local]"'
)
DEMONSTRATION = (
    "This is a small demonstration model that runs on your own machine: fine for a step or two "
    "on small files. For real work connect a larger one: set OPENAI_API_KEY (and "
    "OPENAI_BASE_URL), or see %hermes model."
)


def is_local(name: str, settings: Settings) -> bool:
    """Does this name mean the embedded model?"""
    if name:
        return name == LOCAL or name in MODELS or name.endswith(".gguf")
    return not settings.has_endpoint


def choose(name: str, settings: Settings) -> Model:
    """The model called ``name``; the configured one if it is empty.

    Raises
    ------
    ModelError
        ``no_model`` if nothing is connected and nothing is installed.
    """
    name = name or settings.model
    if is_local(name, settings):
        wanted = settings.local_model if name in ("", LOCAL) else name
        local = wanted or installed()
        if local is None:
            raise ModelError(NO_MODEL, kind="no_model")
        return EmbeddedModel(local, shared_server(local))
    if not settings.has_endpoint:
        raise ModelError(f"model {name!r} needs an endpoint: {NO_MODEL}", kind="no_model")
    if not name and not settings.base_url:
        name = OPENAI_DEFAULT
    return OpenAIModel(
        name,
        base_url=settings.base_url or None,
        api_key=settings.api_key or None,
        window=settings.context_window,
    )


class EmbeddedModel:
    """The local model: started at its first reply, and again after a crash."""

    window = CONTEXT

    def __init__(self, name: str, server: LocalServer) -> None:
        self.name = name
        self._server = server
        self._client: OpenAIModel | None = None
        self._url = ""

    async def reply(
        self,
        messages: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        on_delta: Callable[[Delta], None],
    ) -> Reply:
        client = await self._connected(on_delta)
        on_delta(Delta("notice", READING))
        try:
            return await client.reply(messages, tools, _first_clears_the_notice(on_delta))
        except ModelError as error:
            raise await self._crash() or error from error

    async def _crash(self) -> ModelError | None:
        """Why the child ended, if it did: its death is known a moment after its connection's."""
        for _ in range(CRASH_LOOKS):
            if (failure := self._server.failure()) is not None:
                return failure
            await asyncio.sleep(CRASH_SECONDS / CRASH_LOOKS)
        return None

    async def _connected(self, on_delta: Callable[[Delta], None]) -> OpenAIModel:
        endpoint = await self._server.start(lambda text: on_delta(Delta("notice", text)))
        if self._client is None or self._url != endpoint.base_url:
            await self._close_client()
            self._url = endpoint.base_url
            self._client = OpenAIModel(
                endpoint.model, base_url=endpoint.base_url, api_key=endpoint.api_key
            )
        return self._client

    async def _close_client(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def close(self) -> None:
        await self._close_client()
        self._server.stop()


def _first_clears_the_notice(on_delta: Callable[[Delta], None]) -> Callable[[Delta], None]:
    waits = True

    def hear(delta: Delta) -> None:
        nonlocal waits
        if waits:
            waits = False
            on_delta(Delta("notice", ""))
        on_delta(delta)

    return hear
