"""What all routes share: who may, how large, and errors as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError, authenticated

from hermes_jupyter.server.routes.bodies import Bounded, error_in

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


class Route(Bounded, APIHandler):
    """A route that answers with JSON."""

    auth_resource = RESOURCE
    max_body_bytes = MAX_BODY_BYTES

    async def prepare(self) -> None:  # type: ignore[override]
        """Look at who asks, then at how much they send, before it is read."""
        await super().prepare()
        if not self.current_user and self.request.method != "OPTIONS":
            raise HTTPError(403, "log in first")
        self.expect_body()

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
        said = self.begin_error(error_in(about))
        self.finish(json.dumps({"message": said, "status": status_code}))
