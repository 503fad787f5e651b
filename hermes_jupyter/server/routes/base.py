"""What all routes share: who may, how large, and errors as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError, authenticated, stream_request_body

if TYPE_CHECKING:
    from hermes_jupyter.server.extension import Extension

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
RESOURCE = "hermes"
MAX_BODY_BYTES = 256 * 1024
MAX_DEPTH_OF_PAGES = 10_000
JSON = "application/json"


def allowed(action: str, resource: str = RESOURCE) -> Callable[[Method], Method]:
    """Only who is logged in, and whom the authorizer lets do this to this resource."""

    def only(method: Method) -> Method:
        authorizing: Callable[[Method], Any] = authorized(action, resource)
        return cast("Method", authenticated(authorizing(method)))

    return only


@stream_request_body
class Route(APIHandler):
    """A route that answers with JSON. A body that is too large is refused before it is here."""

    auth_resource = RESOURCE
    max_body_bytes = MAX_BODY_BYTES

    def initialize(self, extension: Extension) -> None:
        self.extension = extension
        self._body = bytearray()

    async def prepare(self) -> None:  # type: ignore[override]
        """Look at who asks, then at how much they send, before it is read."""
        await super().prepare()
        if not self.current_user and self.request.method != "OPTIONS":
            raise HTTPError(403, "log in first")
        if not self.request.headers.get("Content-Length", "0").isdecimal():
            raise HTTPError(400, "the length of the body is no number")
        if int(self.request.headers.get("Content-Length", "0")) > self.max_body_bytes:
            raise self._too_large()

    def data_received(self, chunk: bytes) -> None:
        self._body += chunk
        if len(self._body) > self.max_body_bytes:
            raise self._too_large()

    @property
    def body(self) -> bytes:
        return bytes(self._body)

    def json_object(self) -> Mapping[str, Any]:
        """The body.

        Raises
        ------
        HTTPError
            If it is no JSON object, or does not say that it is JSON: a form of another site's page
            cannot say so.
        """
        kind = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise HTTPError(415, f"send {JSON}, not {kind[:60] or 'nothing'!r}")
        try:
            told = json.loads(self._body)
        except (ValueError, RecursionError):
            raise HTTPError(400, "the body is no JSON") from None
        if not isinstance(told, dict):
            raise HTTPError(400, "the body must be a JSON object")
        return told

    def number(self, name: str, default: int, most: int = MAX_DEPTH_OF_PAGES) -> int:
        """A number from the query.

        Raises
        ------
        HTTPError
            If it is none, or out of range.
        """
        told = self.get_query_argument(name, str(default))
        if not (told.isascii() and told.isdecimal() and len(told) < 10 and int(told) <= most):
            raise HTTPError(400, f"{name} must be a number of at most {most}")
        return int(told)

    def send(self, told: Mapping[str, Any]) -> None:
        """Answer with JSON."""
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps(told, ensure_ascii=True))

    async def in_thread(self, job: Callable[[], T]) -> T:
        """Run what reads the disk, and not on the server's loop."""
        return await self.extension.in_thread(job)

    def write_error(self, status_code: int, **about: Any) -> None:
        """One line that says what is wrong, and no traceback."""
        error = (about.get("exc_info") or (None, None, None))[1]
        said = error.log_message if isinstance(error, HTTPError) else ""
        self.finish(json.dumps({"message": said or self._reason, "status": status_code}))

    def _too_large(self) -> HTTPError:
        self.set_header("Connection", "close")
        return HTTPError(413, f"the body is larger than {self.max_body_bytes} bytes")
