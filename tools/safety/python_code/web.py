"""Models of what Python sends to other hosts. A plain GET is harmless; what carries data is not."""

from __future__ import annotations

import re

from tools.safety.python_code.call import Call
from tools.safety.python_code.files import reads_secret, target_text, written
from tools.safety.python_code.values import (
    NOTHING,
    UNKNOWN,
    Known,
    Made,
    Table,
    Value,
    as_text,
    has_hole,
    hole,
)

READS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
_BODY = ("data", "json", "files", "content")
_CARRIES = re.compile("\ue000(?:content|secret_\\w*|environment)\ue001")
_HOST = re.compile(r"\w+://([^/?#\s:]+)")


def _told(call: Call, url: str | None) -> None:
    host = _HOST.match(url or "")
    known_host = host.group(1) if host and not has_hole(host.group(1)) else "another host"
    call.judge.tell(f"sends data to {known_host}")


def reads(call: Call, url_at: int = 0) -> Value:
    """GET and HEAD, unless they have a body or the content of a file in their address."""
    url = call.text(url_at, "url")
    parameters = call.keywords.get("params", NOTHING)
    texts = [
        url,
        *map(as_text, parameters.entries.values() if isinstance(parameters, Table) else []),
    ]
    has_body = any(call.keywords.get(name, NOTHING) != NOTHING for name in _BODY)
    if has_body or any(text and _CARRIES.search(text) for text in texts):
        _told(call, url)
    return Made("http.Response")


def reads_by_method(call: Call) -> Value:
    return reads(call, 1)


def sends(call: Call) -> Value:
    """POST, PUT, PATCH, DELETE by a function of a module."""
    _told(call, call.text(0, "url"))
    return Made("http.Response")


def sends_by_method(call: Call) -> Value:
    _told(call, call.text(1, "url"))
    return Made("http.Response")


def requests_by_function(call: Call) -> Value:
    """``requests.request(method, url)``."""
    return _request(call, 0)


def requests_by_method(call: Call) -> Value:
    return _request(call, 1)


def _request(call: Call, position: int) -> Value:
    method = call.argument(position, "method")
    is_read = isinstance(method, Known) and str(method.value).upper() in READS
    if is_read:
        return reads(call, position + 1)
    _told(call, call.text(position + 1, "url"))
    return Made("http.Response")


def may_send(call: Call) -> Value:
    """``x.put(...)`` and ``x.patch(...)`` of an unknown object, which could be a queue."""
    first = call.text(1, "url") or ""
    if any(name in call.keywords for name in (*_BODY, "headers", "url")) or first.startswith(
        ("http", "/")
    ):
        _told(call, first)
    return UNKNOWN


def may_request(call: Call) -> Value:
    """``x.request(method, url)`` of an unknown object."""
    method = call.text(1, "method") or ""
    if method.upper() in ("POST", "PUT", "PATCH", "DELETE") or any(
        name in call.keywords for name in _BODY
    ):
        _told(call, call.text(2, "url"))
    return UNKNOWN


def may_read(call: Call) -> Value:
    """``x.get(...)`` of an unknown object, with a body."""
    if any(name in call.keywords for name in ("json", "data", "files")):
        _told(call, call.text(1, "url"))
    return UNKNOWN


def opened_url(call: Call) -> Value:
    """``urlopen(url, data)``."""
    url = call.text(0, "url")
    body = call.argument(1, "data") or NOTHING
    if body != NOTHING or (url and _CARRIES.search(url)):
        _told(call, url)
    if url and url.startswith("file:"):
        reads_secret(call, url.removeprefix("file://"))
    return Made("http.Response")


def request_object(call: Call) -> Value:
    """``urllib.request.Request(url, data, method=...)``."""
    body = call.argument(1, "data") or NOTHING
    method = call.keywords.get("method", Known("GET"))
    is_read = isinstance(method, Known) and str(method.value).upper() in READS
    if body != NOTHING or not is_read:
        _told(call, call.text(0, "url"))
    return Made("urllib.request.Request", tuple(call.args[:1]))


def may_serve(call: Call) -> Value:
    """``app.run(host=...)``, ``demo.launch(share=True)``."""
    share = call.keywords.get("share", Known(False))
    if {"host", "port", "server_name", "server_port"} & set(call.keywords) or share != Known(False):
        call.judge.tell("serves to the network")
    return UNKNOWN


def may_push(call: Call) -> Value:
    """``remote.push()`` of GitPython; a stack's ``push`` is given something."""
    if len(call.args) <= 1 or "refspec" in call.keywords:
        call.judge.tell("publishes commits")
    return UNKNOWN


def downloaded(call: Call) -> Value:
    """``client.download_file(bucket, key, filename)`` overwrites a file here."""
    path = call.argument(3, "Filename", "filename") or (
        call.args[-1] if len(call.args) > 1 else None
    )
    written(target_text(path) or hole(), call)
    return UNKNOWN
