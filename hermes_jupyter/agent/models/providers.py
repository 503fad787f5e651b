"""The providers that are known, and what is peculiar about each: data, and nothing else.

A new provider is an entry of `PROVIDERS`. What an entry does not say is as with OpenAI's Chat
Completions, which all of them follow.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

Api = Literal["chat", "responses"]
CLOUD_FIRST_TOKEN = 300.0
LOCAL_FIRST_TOKEN = 1_800.0
"""A machine without a graphics card reads a long prompt for minutes."""
BETWEEN_TOKENS = 120.0
LOCAL_BETWEEN = 600.0
"""Some hold a whole call back until its last argument is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Where a provider is, and in what it differs."""

    name: str
    base_url: str = ""
    hosts: tuple[str, ...] = ()
    """Names of its servers; the host itself or a domain above it."""
    port: int = 0
    """Where it listens on a machine of one's own."""
    keys: tuple[str, ...] = ()
    """Environment variables that hold its key, best first."""
    api: Api = "chat"
    responses_only: tuple[str, ...] = ()
    """Patterns of models that are served by the Responses API alone."""
    answer_limit: str = "max_tokens"
    """The field that bounds an answer."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """Fields that every request has."""
    prefill: Mapping[str, Any] | None = None
    """What makes it go on with an unfinished last message: fields of the request (none is fine),
    or None if it cannot."""
    prefill_mark: str = ""
    """A field of that message which says that it is unfinished."""
    echo: tuple[str, ...] = ()
    """Fields of its answers that later requests must give back as they were."""
    call_id_chars: int = 0
    """Exact length of the ids of calls; 0 for any."""
    schema_without: frozenset[str] = frozenset()
    """Words of JSON Schema that it rejects."""
    keeps_tools: bool = False
    """Does ``tool_choice: none`` keep calls away, so that the tools can stay for its cache?"""
    json_schema: bool = False
    """Can it hold the replies of any model to a JSON schema (``response_format``)?"""
    lists_prices: bool = False
    """Does its list of models name prices?"""
    first_token: float = CLOUD_FIRST_TOKEN
    """Longest wait for the beginning of an answer, in seconds."""
    between_tokens: float = BETWEEN_TOKENS
    """Longest silence in the middle of one."""
    is_local: bool = False
    """Does it run on a machine of the user's, and cost nothing?"""


_GEMINI_REJECTS = frozenset(
    {"$schema", "$id", "additionalProperties", "patternProperties", "const", "exclusiveMinimum",
     "exclusiveMaximum", "propertyNames", "unevaluatedProperties", "default", "examples"}
)  # fmt: skip

PROVIDERS: tuple[Provider, ...] = (
    Provider(
        name="openai",
        base_url="https://api.openai.com/v1",
        hosts=("api.openai.com",),
        keys=("OPENAI_API_KEY",),
        answer_limit="max_completion_tokens",
        keeps_tools=True,
        responses_only=("*-codex*", "codex-*", "*-pro", "*-pro-20*", "*-deep-research*"),
    ),
    Provider(
        name="anthropic",
        base_url="https://api.anthropic.com/v1",
        hosts=("api.anthropic.com",),
        keys=("ANTHROPIC_API_KEY",),
        keeps_tools=True,
    ),
    Provider(
        name="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        hosts=("generativelanguage.googleapis.com",),
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        echo=("extra_content",),  # of calls: the signatures of its thoughts
        schema_without=_GEMINI_REJECTS,
        keeps_tools=True,
    ),
    Provider(
        name="openrouter",
        base_url="https://openrouter.ai/api/v1",
        hosts=("openrouter.ai",),
        keys=("OPENROUTER_API_KEY",),
        body={"usage": {"include": True}},
        echo=("reasoning_details",),
        keeps_tools=True,
        lists_prices=True,
    ),
    Provider(
        name="deepseek",
        base_url="https://api.deepseek.com/v1",
        hosts=("api.deepseek.com",),
        keys=("DEEPSEEK_API_KEY",),
        echo=("reasoning_content",),
        keeps_tools=True,
    ),
    Provider(
        name="mistral",
        base_url="https://api.mistral.ai/v1",
        hosts=("api.mistral.ai",),
        keys=("MISTRAL_API_KEY",),
        prefill={},
        prefill_mark="prefix",
        call_id_chars=9,
        keeps_tools=True,
    ),
    Provider(
        name="xai",
        base_url="https://api.x.ai/v1",
        hosts=("api.x.ai",),
        keys=("XAI_API_KEY",),
        keeps_tools=True,
    ),
    Provider(
        name="groq",
        base_url="https://api.groq.com/openai/v1",
        hosts=("api.groq.com",),
        keys=("GROQ_API_KEY",),
        answer_limit="max_completion_tokens",
    ),
    Provider(
        name="nous",
        base_url="https://inference-api.nousresearch.com/v1",
        hosts=("inference-api.nousresearch.com",),
        keys=("NOUS_API_KEY",),
    ),
    Provider(
        name="huggingface",
        base_url="https://router.huggingface.co/v1",
        hosts=("router.huggingface.co",),
        keys=("HF_TOKEN",),
    ),
    Provider(
        name="ollama",
        base_url="http://127.0.0.1:11434/v1",
        port=11434,
        first_token=LOCAL_FIRST_TOKEN,
        between_tokens=LOCAL_BETWEEN,
        json_schema=True,
        is_local=True,
    ),
    Provider(
        name="vllm",
        base_url="http://127.0.0.1:8000/v1",
        port=8000,
        prefill={"continue_final_message": True, "add_generation_prompt": False},
        first_token=LOCAL_FIRST_TOKEN,
        between_tokens=LOCAL_BETWEEN,
        keeps_tools=True,
        json_schema=True,
        is_local=True,
    ),
    Provider(
        name="llamacpp",
        base_url="http://127.0.0.1:8080/v1",
        port=8080,
        prefill={},
        first_token=LOCAL_FIRST_TOKEN,
        between_tokens=LOCAL_BETWEEN,
        json_schema=True,
        is_local=True,
    ),
    Provider(
        name="lmstudio",
        base_url="http://127.0.0.1:1234/v1",
        port=1234,
        first_token=LOCAL_FIRST_TOKEN,
        between_tokens=LOCAL_BETWEEN,
        json_schema=True,
        is_local=True,
    ),
)
CUSTOM = Provider(name="custom")
"""Somebody else. No key of another provider is meant for them."""
LOCAL = Provider(
    name="custom",
    first_token=LOCAL_FIRST_TOKEN,
    between_tokens=LOCAL_BETWEEN,
    is_local=True,
)
OPENAI = PROVIDERS[0]
OTHER_NAMES: Mapping[str, str] = {
    "google": "gemini", "claude": "anthropic", "llama.cpp": "llamacpp", "llama-cpp": "llamacpp",
    "lm-studio": "lmstudio", "grok": "xai", "hf": "huggingface",
}  # fmt: skip
_BY_NAME = {provider.name: provider for provider in (*PROVIDERS, CUSTOM)}
LLAMACPP = _BY_NAME["llamacpp"]


def named(name: str) -> Provider | None:
    """The provider of this name, as configurations write it; None if it is not known."""
    plain = name.strip().lower()
    return _BY_NAME.get(OTHER_NAMES.get(plain, plain))


def provider_at(base_url: str) -> Provider:
    """Who serves at this address, as far as it tells."""
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return CUSTOM
    for provider in PROVIDERS:
        if any(host == known or host.endswith(f".{known}") for known in provider.hosts):
            return provider
    if not is_private(host):
        return CUSTOM
    return next((each for each in PROVIDERS if each.port and each.port == port), LOCAL)


def is_private(host: str) -> bool:
    """Is this a machine of the user's own, or of their network?"""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False
