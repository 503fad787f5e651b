"""Bodies that are bounded before they are read, for all routes that take one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tornado.web import HTTPError, RequestHandler, stream_request_body

if TYPE_CHECKING:
    from hermes_jupyter.server.extension import Extension


@stream_request_body
class Bounded(RequestHandler):
    """A route that knows how much may come. What is too large is refused before it is here.

    An answer that does not wait for the body ends the connection. It says so: else a proxy, such as
    JupyterHub's, would send the next request of somebody down a line that has gone.
    """

    max_body_bytes = 0
    _expected: int | None = None
    """Bytes that will come; None before they are known to be few enough, or if nobody says."""

    def initialize(self, extension: Extension) -> None:
        self.extension = extension
        self._body = bytearray()

    def expect_body(self) -> None:
        """Let the body come, if it is not too large; at the end of ``prepare``.

        Raises
        ------
        HTTPError
        """
        headers = self.request.headers
        told = headers.get("Content-Length", "0")
        if not told.isdecimal():
            raise HTTPError(400, "the length of the body is no number")
        if int(told) > self.max_body_bytes:
            raise self._too_large()
        self._expected = None if "Transfer-Encoding" in headers else int(told)

    def data_received(self, chunk: bytes) -> None:
        self._body += chunk
        if len(self._body) > self.max_body_bytes:
            raise self._too_large()

    @property
    def body(self) -> bytes:
        return bytes(self._body)

    def begin_error(self, error: object) -> str:
        """Answer with an error; gives one line that says what is wrong, and no traceback."""
        if len(self._body) != self._expected:
            self.set_header("Connection", "close")
        if isinstance(error, HTTPError) and error.log_message:
            return str(error.log_message % error.args)
        return str(self._reason)

    def _too_large(self) -> HTTPError:
        return HTTPError(413, f"the body is larger than {self.max_body_bytes} bytes")


def error_in(about: dict[str, Any]) -> object:
    """What tornado's ``write_error`` was called for."""
    return (about.get("exc_info") or (None, None, None))[1]
