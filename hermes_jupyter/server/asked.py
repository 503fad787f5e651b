"""What a kernel asks of a model, read and checked: only that goes to the provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.server.offered import APIS, Offered

PATHS: Mapping[str, str] = {"chat": "/chat/completions", "responses": "/responses"}
WRITTEN = 8_000
"""Tokens for which there must be room in the budget before an answer begins."""
MOST_ANSWERS = 128
ELSEWHERE = frozenset(
    {
        "api_base", "api_key", "api_version", "base_url", "custom_llm_provider", "extra_body",
        "extra_headers", "fallbacks", "headers", "model_list", "models", "preset", "user_config",
    }
)  # fmt: skip
"""Fields with which gateways (OpenRouter, LiteLLM) ask another model, or take the key elsewhere."""
LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


class NotPassed(Exception):
    """Why a request is not passed on, or was not answered: as OpenAI's API says it."""

    def __init__(
        self, status: int, text: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(text)
        self.status, self.kind, self.headers = status, kind, headers or {}
        self.body: Mapping[str, Any] = {"error": {"message": text, "type": kind, "code": kind}}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a kernel asks."""

    kernel: str
    api: str
    model: Offered
    body: bytes
    streams: bool
    written: int = WRITTEN
    """Tokens for which there must be room."""


def read(kernel: str, api: str, body: bytes, models: Mapping[str, Offered]) -> Asked:
    """What a request asks, as the provider will read it.

    It is written anew: what is not seen here, as the first of two fields of one name, does not
    get there.

    Raises
    ------
    NotPassed
        If it asks for something that is not offered.
    """
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise _wrong("the body is no JSON") from None
    if not isinstance(told, dict):
        raise _wrong("the body must be a JSON object")
    model = _model(told.get("model"), api, models)
    if strange := sorted(ELSEWHERE & told.keys()):
        raise _wrong(f"the server does not pass on the field {strange[0]!r}")
    if told.get("background"):
        raise _wrong("the server does not pass on answers in the background: nobody counts them")
    streams = told.get("stream") is True
    changed: dict[str, Any] = {**told, "model": model.model}
    if api == "chat" and streams:
        options = told.get("stream_options")
        options = options if isinstance(options, dict) else {}
        changed["stream_options"] = {**options, "include_usage": True}
    written = json.dumps(changed, separators=(",", ":")).encode()
    return Asked(kernel, api, model, written, streams, _room(told))


def _model(name: object, api: str, models: Mapping[str, Offered]) -> Offered:
    model = models.get(name) if isinstance(name, str) else None
    if model is None:
        said = f"the server does not offer the model {str(name)[:80]!r}, but "
        raise NotPassed(404, said + (", ".join(models) or "none"), "model_not_found")
    if api not in APIS[model.api]:
        raise NotPassed(400, f"{model.name!r} is asked by {PATHS[model.api]}", "wrong_api")
    return model


def _room(told: Mapping[str, Any]) -> int:
    limits = [_count(told.get(name), WRITTEN) for name in LIMITS]
    return min(WRITTEN, *limits) * min(_count(told.get("n"), 1), MOST_ANSWERS)


def _count(value: object, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default


def _wrong(text: str) -> NotPassed:
    return NotPassed(400, text, "invalid_request_error")
