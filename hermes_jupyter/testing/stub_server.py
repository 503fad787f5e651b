"""A small HTTP server in a thread, whose answers a function writes byte by byte."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, Self, cast

MAX_IDLE_SECONDS = 10


class StubServer:
    """Serves on a free port of this machine until the ``with`` block ends.

    Parameters
    ----------
    answer
        Called in a thread of its own for each request, with the `Exchange` to answer.

    Attributes
    ----------
    requests : list of (str, dict)
        Path and JSON body of each request.
    keys : list of str
        The ``Authorization`` of each request.
    abandoned : threading.Event
        Set when a client went away before its answer was complete.
    stopping : threading.Event
        Set when the server ends; an answer that waits should wait for this.
    """

    def __init__(self, answer: Callable[[Exchange], None]) -> None:
        self.answer = answer
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str] = []
        self.abandoned = threading.Event()
        self.stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """The ``base_url`` for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()  # waits for the threads of open requests


class _Server(socketserver.ThreadingTCPServer):
    # Not http.server.HTTPServer: that one asks the name service for its own name first.
    daemon_threads = False
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], handler: type[_Handler], stub: StubServer) -> None:
        self.stub = stub
        super().__init__(address, handler)


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, stub: StubServer, body: Any) -> None:
        self.path = handler.path
        self.headers = handler.headers
        self.body: dict[str, Any] = body
        self.stub = stub
        self._handler = handler

    def send(
        self,
        content: bytes,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """A whole answer."""
        self._head(status, {"Content-Type": content_type, **(headers or {})}, len(content))
        self._handler.wfile.write(content)

    def send_json(self, value: Any, *, status: int = 200, **headers: str) -> None:
        """A whole answer in JSON; ``retry_after="1"`` sends the header Retry-After."""
        named = {key.replace("_", "-").title(): text for key, text in headers.items()}
        self.send(json.dumps(value).encode(), status=status, headers=named)

    def send_error(self, status: int, message: str, **headers: str) -> None:
        """An error as OpenAI shapes it."""
        self.send_json({"error": {"message": message, "code": None}}, status=status, **headers)

    def begin_stream(self) -> None:
        """The head of a stream of events."""
        self._head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})

    def send_event(self, value: Any) -> None:
        """One event; a string as it is, anything else as JSON."""
        text = value if isinstance(value, str) else json.dumps(value)
        self.send_chunk(f"data: {text}\n\n".encode())

    def send_chunk(self, content: bytes) -> None:
        """Some bytes of a stream."""
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))

    def end_stream(self) -> None:
        """The end of a stream; one without it is broken for the client."""
        self._handler.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, headers: Mapping[str, str], length: int | None = None) -> None:
        self._handler.send_response(status)
        for name, text in headers.items():
            self._handler.send_header(name, text)
        if length is not None:
            self._handler.send_header("Content-Length", str(length))
        self._handler.send_header("Connection", "close")
        self._handler.end_headers()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = MAX_IDLE_SECONDS

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(json.loads(content or b"{}"))

    def _answer(self, body: dict[str, Any]) -> None:
        stub = cast(_Server, self.server).stub
        stub.keys.append(self.headers.get("Authorization", ""))
        stub.requests.append((self.path, body))
        self.close_connection = True
        try:
            stub.answer(Exchange(self, stub, body))
        except ConnectionError:
            stub.abandoned.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the output of a test is not the place."""
