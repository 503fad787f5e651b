"""Which model serves a turn: the user's endpoint, or the embedded one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from hermes_jupyter.agent.models.base import Delta, Message, Model, Reply
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.agent.models.constrained_model import ConstrainedModel
from hermes_jupyter.agent.models.local import CONTEXT, MODELS, LocalServer, installed, shared_server
from hermes_jupyter.agent.models.prices import FREE
from hermes_jupyter.agent.models.providers import (
    CUSTOM,
    LLAMACPP,
    OPENAI,
    Api,
    Provider,
    named,
    provider_at,
)
from hermes_jupyter.agent.models.sight import sees
from hermes_jupyter.agent.models.transport import OPENAI_URL
from hermes_jupyter.agent.pictures import without_carriers
from hermes_jupyter.agent.profiles import AUTO, SMALL, Profile, profile_for
from hermes_jupyter.errors import ConfigurationError, ModelError
from hermes_jupyter.model_settings import LEASED, ModelChoice
from hermes_jupyter.settings import Settings

LOCAL = "local"
EYES = {"auto": None, "on": True, "off": False}
"""What the user says of whether the model sees."""
READING = "The local model reads its instructions: a minute or more the first time, seconds later."
CRASH_SECONDS = 0.5
CRASH_LOOKS = 10
OPENAI_DEFAULT = "gpt-5-mini"
"""Asked of api.openai.com if the user names no model; other endpoints tell what they have."""
ENGINE = replace(LLAMACPP, prefill=None)
"""Its answers are made of constrained JSON, which cannot be gone on with."""
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


def profile_of(settings: Settings) -> Profile:
    """How much help the model of these settings gets; the embedded one counts as small."""
    if settings.profile == AUTO and is_local(settings.model, settings):
        return SMALL
    return profile_for(settings.model, settings.profile)


def may_see(settings: Settings) -> bool:
    """Is there a model that sees images, as far as that is known before it is asked?"""
    if settings.vision_model is not None or settings.vision != AUTO:
        return settings.vision_model is not None or settings.vision == "on"
    if is_local(settings.model, settings) or not settings.has_endpoint:
        return False
    known = named(settings.provider) if settings.provider else None
    provider = known or provider_at(settings.base_url or OPENAI_URL)
    if provider.json_schema and profile_for(settings.model, settings.profile).constrained:
        return False
    return sees(settings.model or (OPENAI_DEFAULT if provider is OPENAI else ""), provider)


def choose(name: str, settings: Settings) -> Model:
    """The model called ``name``; the configured one if it is empty.

    Raises
    ------
    ModelError
        ``no_model`` if nothing is connected and nothing is installed.
    """
    name = name or settings.model
    if is_local(name, settings):
        return _embedded(name, settings)
    if not settings.has_endpoint:
        raise ModelError(f"model {name!r} needs an endpoint: {NO_MODEL}", kind="no_model")
    return _remote(
        ModelChoice(
            model=name,
            provider=settings.provider,
            base_url=settings.base_url or ("" if settings.provider else OPENAI_URL),
            api_key=settings.api_key,
            api=settings.api,
            context_window=settings.context_window,
            vision=EYES[settings.vision],
        ),
        settings,
    )


def fall_back(choice: ModelChoice, settings: Settings) -> Model:
    """A model to fall back to. What its choice leaves open is as with the first model.

    Raises
    ------
    ModelError, ConfigurationError
    """
    if choice.model and is_local(choice.model, settings) and not choice.base_url:
        return _embedded(choice.model, settings)
    if not (choice.provider or choice.base_url):
        choice = replace(
            choice,
            provider=settings.provider,
            base_url=settings.base_url or ("" if settings.provider else OPENAI_URL),
            api_key=choice.api_key or settings.api_key,
        )
    return _remote(choice, settings)


def _embedded(name: str, settings: Settings) -> Model:
    wanted = settings.local_model if name in ("", LOCAL) else name
    local = wanted or installed()
    if local is None:
        raise ModelError(NO_MODEL, kind="no_model")
    return EmbeddedModel(local, shared_server(local))


def _remote(choice: ModelChoice, settings: Settings) -> Model:
    known = named(choice.provider) if choice.provider else None
    base_url = choice.base_url or (known.base_url if known else "")
    if not base_url:
        raise ConfigurationError(f"where is provider {choice.provider!r}? Say its base_url")
    provider = known if known and known is not CUSTOM else provider_at(base_url)
    model = OpenAIModel(
        choice.model or (OPENAI_DEFAULT if provider is OPENAI else ""),
        base_url=base_url,
        api_key=_key(choice, provider, settings) or None,
        provider=provider,
        api=cast("Api | None", choice.api or None),
        timeout=settings.first_token_timeout,
        stall_timeout=settings.stall_timeout,
        window=choice.context_window,
        prices=settings.prices,
        extra={} if choice.temperature is None else {"temperature": choice.temperature},
        sees=choice.vision,
    )
    profile = profile_for(choice.model, settings.profile)
    if provider.json_schema and profile.constrained:
        return ConstrainedModel(model, plan=profile.plan)
    return model


def _key(choice: ModelChoice, provider: Provider, settings: Settings) -> str:
    """The key for a provider: what is said to be its own goes before one that serves for all."""
    if choice.api_key.startswith(LEASED):
        return choice.api_key
    names = [choice.key_env] if choice.key_env else [*provider.keys]
    own = next((settings.keys[name] for name in names if settings.keys.get(name)), "")
    if provider is OPENAI and not choice.key_env:
        return choice.api_key or own
    return own or choice.api_key


class EmbeddedModel:
    """The local model: started at its first reply, and again after a crash."""

    window = CONTEXT
    price = FREE
    prefills = False
    sees = False

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
        *,
        max_answer: int = 0,
    ) -> Reply:
        client = await self._connected(on_delta)
        on_delta(Delta("notice", READING))
        hear = _first_clears_the_notice(on_delta)
        try:
            said = without_carriers(messages)
            return await client.reply(said, tools, hear, max_answer=max_answer)
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
                endpoint.model,
                base_url=endpoint.base_url,
                api_key=endpoint.api_key,
                provider=ENGINE,
                sees=False,
            )
        return self._client

    async def learn(self) -> None:
        """All is known."""

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
