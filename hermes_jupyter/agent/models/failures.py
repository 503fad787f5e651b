"""Foreign exceptions of a model call become `ModelError`, here and once.

Each message is one line that names the value and the remedy. Exceptions of ``openai`` and of the
HTTP library below it are told apart by class name: ``openai`` 3 sits on ``httpx2``, older ones on
``httpx``, and importing either here would cost the kernel its quick start.
"""

from __future__ import annotations

import re
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from hermes_jupyter.agent.models import server_messages
from hermes_jupyter.errors import ModelError, ModelErrorKind, TooLongError

_THOUGHTS = re.compile(r"(?i)signature|encrypted|reasoning|thinking")
_CUT = frozenset({"RemoteProtocolError", "ReadError", "WriteError"})
"""A connection that was there and is not: often one that was kept open a moment too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The server, model and key of a call, as its error messages name them."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    timeout: float = 600.0

    @property
    def shown_url(self) -> str:
        """The address without what may be secret in it."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def clean(self, message: str) -> str:
        """One printable line of bounded length that does not contain the key."""
        return server_messages.one_line(message, secret=self.api_key)


def http_errors() -> tuple[type[Exception], ...]:
    """Base exceptions of the HTTP libraries that are loaded, for an ``except`` clause."""
    libraries = [sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules]
    return tuple(library.HTTPError for library in libraries)


def translate(error: Exception, endpoint: Endpoint, *, received: int = 0) -> ModelError:
    """Say what went wrong.

    Parameters
    ----------
    error
        Raised by ``openai`` or by the HTTP library below it.
    endpoint
        Where the call went.
    received
        Characters of the answer that had arrived. A call that fails after the first of them is
        ``broken``: it must go on from there, and not say them again to who has read them.
    """
    if isinstance(status := getattr(error, "status_code", None), int):
        return _status_error(error, status, endpoint)
    kinds = {kind.__name__ for cause in _chain(error) for kind in type(cause).__mro__}
    timed_out = bool(kinds & {"APITimeoutError", "TimeoutException"})
    if received:
        why = f"nothing came for {endpoint.timeout:g} s" if timed_out else _reason(error)
        return broken_stream(endpoint, received, why)
    if "ConnectTimeout" in kinds:
        return _error(f"cannot reach {endpoint.shown_url}: no answer to the connection", "timeout")
    if timed_out:
        message = f"no answer from {endpoint.shown_url} within {endpoint.timeout:g} s"
        return _error(f"{message}: try again, or raise the timeout", "timeout")
    return _connection_error(error, endpoint)


def rejects(error: Exception, field: str) -> bool:
    """Whether the server does not know this field of the request."""
    return getattr(error, "status_code", None) in (400, 422) and field in str(error)


def rejects_thoughts(error: Exception) -> bool:
    """Whether the server does not know what a model thought before as its own."""
    return rejects(error, "") and _THOUGHTS.search(str(error)) is not None


def broken_stream(endpoint: Endpoint, received: int, why: str) -> ModelError:
    """The stream ended before the answer did."""
    reason = endpoint.clean(why)
    return _error(
        f"the stream from {endpoint.shown_url} broke after {received} characters ({reason})",
        "broken",
    )


def stalled(endpoint: Endpoint, received: int, seconds: float) -> ModelError:
    """The server is silent for longer than it may be."""
    if received:
        return broken_stream(endpoint, received, f"nothing came for {seconds:g} s")
    message = f"no answer from {endpoint.shown_url} within {seconds:g} s"
    return _error(f"{message}: try again, or raise the timeout", "timeout")


def stream_error(body: Any, endpoint: Endpoint, *, received: int) -> ModelError:
    """The server sent an error object in the place of a piece of the answer."""
    said = endpoint.clean(server_messages.message_of(body))
    code = server_messages.code_of(body)
    url = endpoint.shown_url
    if (known := _by_words(said, code, endpoint)) is not None:
        return known
    if received:
        return _error(f"{url} stopped after {received} characters with an error: {said}", "broken")
    if code in ("429", "rate_limit_exceeded", "rate_limit_error"):
        seconds = server_messages.retry_delay_of(body)
        return _error(f"too many requests to {url} ({said})", "rate_limit", retry_after=seconds)
    return _error(f"{url} failed with an error: {said}", "server")


def _by_words(said: str, code: str, endpoint: Endpoint) -> ModelError | None:
    """Failures that are told by what the server says, whatever status it says it with."""
    url, model = endpoint.shown_url, endpoint.model
    if server_messages.is_context_overflow(said, code):
        return too_long(said, endpoint)
    if server_messages.is_used_up(said, code):
        return _error(f"the quota at {url} is used up: check the account ({said})", "billing")
    if server_messages.is_about_images(said):
        return _error(f"{model!r} at {url} does not take these images ({said})", "image")
    if server_messages.is_policy(said, code):
        return _error(f"{url} refuses this by its rules ({said}): ask differently", "policy")
    return None


def filtered(endpoint: Endpoint) -> ModelError:
    """A filter of the provider let nothing of the answer pass."""
    url = endpoint.shown_url
    return _error(f"a filter at {url} kept the answer back: ask differently", "policy")


def no_endpoint(endpoint: Endpoint, got: str) -> ModelError:
    """Something answered that does not speak the protocol."""
    return _error(
        f"{endpoint.shown_url} is not an OpenAI-compatible endpoint (got {got}): check base_url, "
        "which usually ends in /v1",
        "malformed",
    )


def no_key(endpoint: Endpoint) -> ModelError:
    return _error(
        f"{endpoint.shown_url} wants an API key for {endpoint.model!r} and none is set: "
        "set OPENAI_API_KEY",
        "auth",
    )


def _error(message: str, kind: ModelErrorKind, *, retry_after: float | None = None) -> ModelError:
    return ModelError(message, kind=kind, retry_after=retry_after)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _reason(error: Exception) -> str:
    """The last words of the story: the error that the libraries wrapped."""
    return next((str(cause) for cause in reversed([*_chain(error)]) if str(cause)), "no reason")


def _connection_error(error: Exception, endpoint: Endpoint) -> ModelError:
    causes = [*_chain(error)]
    url, reason = endpoint.shown_url, endpoint.clean(_reason(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        host = urlsplit(endpoint.base_url).hostname
        message = f"cannot find the host {host!r} of {url}: check base_url and the network"
    elif any(isinstance(cause, ssl.SSLError) for cause in causes):
        message = f"no secure connection to {url} ({reason}): is it http:// instead of https://?"
    elif any(type(cause).__name__ == "ConnectError" for cause in causes):
        message = f"cannot reach {url}: is the server running?"
    else:
        message = f"the connection to {url} failed ({reason}): try again"
        if any(type(cause).__name__ in _CUT for cause in causes):
            return _error(message, "connection", retry_after=0.0)
    return _error(message, "connection")


def _status_error(error: Exception, status: int, endpoint: Endpoint) -> ModelError:
    body = getattr(error, "body", None)
    code = server_messages.code_of(body)
    said = endpoint.clean(server_messages.message_of(body)) or f"status {status}"
    url, model = endpoint.shown_url, endpoint.model
    if status in (400, 403, 404, 413, 422, 429, 500):
        known = _by_words(said, code, endpoint)
        if known is not None and (status != 429 or known.kind == "billing"):
            return known
    match status:
        case 413:
            return too_long(said, endpoint)
        case 401 if not endpoint.api_key:
            return no_key(endpoint)
        case 401:
            return _error(f"{url} does not accept the API key: check it ({said})", "auth")
        case 402:
            return _error(f"{url} wants to be paid: check the account ({said})", "billing")
        case 403:
            return _error(f"the API key may not use {model!r} at {url} ({said})", "auth")
        case 404:
            return _not_found(said, code, endpoint)
        case 408:
            return _error(f"{url} gave up waiting ({said}): try again", "timeout")
        case 429:
            return _rate_limit(error, said, endpoint)
        case _ if status >= 500:
            seconds = _asked_wait(error)
            busy = server_messages.is_busy(said, code)
            what = f"{url} is overloaded" if busy else f"{url} failed with status {status}"
            return _error(f"{what} ({said}): try again", "server", retry_after=seconds)
    return _error(f"{url} rejected the request with status {status}: {said}", "bad_request")


def too_long(said: str, endpoint: Endpoint) -> TooLongError:
    window, asked = server_messages.token_counts(said)
    return TooLongError(
        f"the conversation is too long for {endpoint.model!r} ({said}): start a new one",
        window=window,
        asked=asked,
    )


def _not_found(said: str, code: str, endpoint: Endpoint) -> ModelError:
    if "model" in f"{said} {code}".lower():
        return _error(f"{endpoint.shown_url} has no model {endpoint.model!r} ({said})", "not_found")
    return _no_path(endpoint, said)


def no_models(endpoint: Endpoint) -> ModelError:
    return _error(f"{endpoint.shown_url} offers no model: load one there, or name one", "not_found")


def _no_path(endpoint: Endpoint, said: str) -> ModelError:
    return _error(
        f"{endpoint.shown_url} has no chat completions ({said}): check base_url, which usually "
        "ends in /v1",
        "not_found",
    )


def _rate_limit(error: Exception, said: str, endpoint: Endpoint) -> ModelError:
    seconds = _asked_wait(error)
    wait = "wait a moment" if seconds is None else f"wait {seconds:g} s"
    return _error(
        f"too many requests to {endpoint.shown_url}: {wait} ({said})",
        "rate_limit",
        retry_after=seconds,
    )


def _asked_wait(error: Exception) -> float | None:
    """How many seconds the server asks to wait, in a header or in the body."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    said = _retry_after(headers)
    return server_messages.retry_delay_of(getattr(error, "body", None)) if said is None else said


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from any of the three ways of saying it."""
    in_milliseconds, said = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    try:
        if in_milliseconds:
            return max(0.0, float(in_milliseconds) / 1000)
        return max(0.0, float(said)) if said else None
    except ValueError:
        return _seconds_until(said)


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
