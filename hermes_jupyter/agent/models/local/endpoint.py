"""A Chat Completions endpoint in front of the engine, for one caller who knows its key."""

from __future__ import annotations

import hmac
import http.client
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hermes_jupyter.agent.models.local.answers import GrowingReply, message_of
from hermes_jupyter.agent.models.local.constrained import MOST_TOKENS, constrained
from hermes_jupyter.agent.models.local.engine import Engine
from hermes_jupyter.agent.models.local.prefix import PrefixStore

CHAT = "/v1/chat/completions"
JSON = "application/json"
TOOL_KEYS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})
LARGEST_BODY = 32 << 20
LARGEST_LOG = 1 << 20
NOT_UNDERSTOOD = (ValueError, KeyError, TypeError, AttributeError, StopIteration)


class Endpoint(ThreadingHTTPServer):
    """Listens on a free port of the loopback interface."""

    daemon_threads = True

    def __init__(self, engine: Engine, name: str, key: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine = engine
        self.prefixes = PrefixStore(engine)
        self.name = name
        self.key = key

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the log is for the engine."""

    def do_GET(self) -> None:
        if not self._authorized():
            return
        if self.path != "/v1/models":
            self._refuse(404, f"There is no {self.path}.")
            return
        model = {"id": self.server.name, "object": "model", "created": 0, "owned_by": "local"}
        self._send_json(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        request = self._request()
        if request is None:
            return
        try:
            self._answer(request)
        except (OSError, http.client.HTTPException):  # the caller hung up, or the engine did
            self.close_connection = True
        finally:
            keep_log_short()

    def _request(self) -> dict[str, Any] | None:
        """Read a request; refuse it here if it is none."""
        size = self.headers.get("content-length") or ""
        if not size.isdigit() or int(size) > LARGEST_BODY:
            self.close_connection = True
            self._refuse(413, f"A body of 0 to {LARGEST_BODY} bytes is needed.")
            return None
        body = self.rfile.read(int(size))
        if not self._authorized():
            return None
        request = json_object(body)
        if request is None:
            self._refuse(400, "The body is not a JSON object.")
        elif self.path == CHAT and not request.get("messages"):
            self._refuse(400, "'messages' is required.")
        else:
            return request
        return None

    def _authorized(self) -> bool:
        given = self.headers.get("authorization") or ""
        if hmac.compare_digest(given.encode(), f"Bearer {self.server.key}".encode()):
            return True
        self._refuse(401, "Incorrect API key provided.", "authentication_error")
        return False

    def _answer(self, request: dict[str, Any]) -> None:
        if "max_completion_tokens" in request:
            request.setdefault("max_tokens", request.pop("max_completion_tokens"))
        if self.path != CHAT:
            self._relay(self.path, request)
        elif not request.get("tools") or request.get("tool_choice") == "none":
            plain = {key: value for key, value in request.items() if key not in TOOL_KEYS}
            # A small model may never come to an end by itself.
            self._relay(CHAT, {"max_tokens": MOST_TOKENS, **plain})
        else:
            self._answer_constrained(request)

    def _relay(self, path: str, request: dict[str, Any]) -> None:
        with self.server.engine.post(path, request, self.connection) as response:
            self._start(response.status, response.headers.get("content-type", JSON))
            while block := response.read1(65_536):
                self._write(block)

    def _answer_constrained(self, request: dict[str, Any]) -> None:
        try:
            asked = constrained(request)
        except NOT_UNDERSTOOD as error:
            self._refuse(400, f"Messages or tools are malformed: {error!r}")
            return
        self.server.prefixes.prepare(asked.preface, self.connection)
        body = asked.body()
        if request.get("stream"):
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        with self.server.engine.post(CHAT, body, self.connection) as response:
            if response.status != 200:
                self._send(response.status, response.read())
            elif request.get("stream"):
                self._stream(response, wants_usage(request))
            else:
                self._complete(json.loads(response.read()))

    def _complete(self, completion: dict[str, Any]) -> None:
        choice = completion["choices"][0]
        message, finish = message_of(choice["message"]["content"] or "", choice["finish_reason"])
        choices = [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}]
        self._send_json(
            200,
            {
                **self._head("chat.completion"),
                "choices": choices,
                "usage": completion.get("usage"),
            },
        )

    def _stream(self, response: http.client.HTTPResponse, with_usage: bool) -> None:
        self._start(200, "text/event-stream")
        head, reply = self._head("chat.completion.chunk"), GrowingReply()
        finish, usage = "stop", None
        self._event(head, {"role": "assistant", "content": ""})
        for chunk in chunks(response):
            usage = chunk.get("usage") or usage
            for choice in chunk.get("choices") or []:
                finish = choice.get("finish_reason") or finish
                if text := reply.feed(choice["delta"].get("content") or ""):
                    self._event(head, {"content": text})
        message, finish = message_of(reply.written, finish)
        for index, call in enumerate(message.get("tool_calls") or []):
            self._event(head, {"tool_calls": [{"index": index, **call}]})
        self._event(head, {}, finish)
        if with_usage:
            self._write_event({**head, "choices": [], "usage": usage})
        self._write(b"data: [DONE]\n\n")

    def _event(
        self, head: dict[str, Any], delta: dict[str, Any], finish: str | None = None
    ) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        self._write_event({**head, "choices": [choice]})

    def _write_event(self, event: dict[str, Any]) -> None:
        self._write(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "object": kind,
            "created": int(time.time()),
            "model": self.server.name,
        }

    def _start(self, status: int, content_type: str) -> None:
        """Begin an answer of unknown length: it ends with the connection."""
        self.close_connection = True
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()

    def _write(self, block: bytes) -> None:
        self.wfile.write(block)
        self.wfile.flush()

    def _send_json(self, status: int, answer: dict[str, Any]) -> None:
        self._send(status, json.dumps(answer).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", JSON)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self._write(body)

    def _refuse(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        error = {"message": message, "type": kind, "param": None, "code": None}
        self._send_json(status, {"error": error})


def json_object(body: bytes) -> dict[str, Any] | None:
    try:
        parsed = json.loads(body)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def wants_usage(request: dict[str, Any]) -> bool:
    return bool((request.get("stream_options") or {}).get("include_usage"))


def chunks(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """Yield the objects of an event stream.

    Raises
    ------
    http.client.IncompleteRead
        If it ends, or reports an error, before it is done: the caller must not take it for whole.
    """
    for line in response:
        if line.startswith(b"data: [DONE]"):
            return
        if line.startswith(b"data: "):
            yield json.loads(line[6:])
        elif line.startswith(b"error"):
            break
    raise http.client.IncompleteRead(b"")


def keep_log_short() -> None:
    """Empty the log, which is where stderr goes, before it fills the disk."""
    log = sys.stderr.fileno()
    if os.fstat(log).st_size > LARGEST_LOG:
        os.ftruncate(log, 0)
