"""Models through the server: an OpenAI-compatible pass-through for kernels, below ``v1``.

Its only key is a kernel's own token: a login, a cookie, or the server's token opens nothing here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError

from hermes_jupyter.server.leases import NoLease
from hermes_jupyter.server.routes.bodies import Bounded, error_in

MAX_KNOCK_BYTES = 1024
BEARER = "Bearer "
APIS: Mapping[str, str] = {"chat/completions": "chat", "responses": "responses"}
POLICY = "default-src 'none'; frame-ancestors 'none'"


class KernelRoute(Bounded):
    """A route for kernels. No cookie counts here, so no other site can use a visitor's."""

    max_body_bytes = MAX_KNOCK_BYTES

    def set_default_headers(self) -> None:
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Content-Security-Policy", POLICY)

    def check_xsrf_cookie(self) -> None:
        """There is nothing to forge: see the class."""

    def prepare(self) -> None:
        self.expect_body()
        # The server's own limit is about uploads by people, and may be smaller.
        self._line.set_max_body_size(self.max_body_bytes)

    def write_error(self, status_code: int, **about: Any) -> None:
        said = self.begin_error(error_in(about))
        self.refuse(status_code, {"error": {"message": said, "type": "server"}})

    def log_exception(self, kind: Any, value: Any, traceback: Any) -> None:
        """As always, but for what clients do wrong: their requests are not logged."""
        if not isinstance(value, HTTPError):
            super().log_exception(kind, value, traceback)

    def refuse(self, status: int, told: Mapping[str, Any]) -> None:
        self.set_status(status)
        self.finish(json.dumps(told))

    def kernel(self) -> str:
        """Whose token came.

        Raises
        ------
        HTTPError
        """
        header = self.request.headers.get("Authorization", "")
        if not header.startswith(BEARER):
            raise HTTPError(401, "this needs a kernel's token: %hermes model --via-server")
        try:
            return self.extension.leases.kernel_of(header[len(BEARER) :].strip())
        except NoLease as refused:
            raise HTTPError(401, str(refused)) from None

    @property
    def _line(self) -> Any:
        return self.request.connection


class Knock(KernelRoute):
    """``POST knock``: a kernel asks for a token, and gets it on its own control channel.

    Whoever asks gets nothing here, not even whether there is such a kernel.
    """

    @allow_unauthenticated
    async def post(self) -> None:
        try:
            told = json.loads(self._body)
            kernel, nonce = told["kernel"], told["nonce"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise HTTPError(400, "a knock has a kernel and a nonce") from None
        if not (isinstance(kernel, str) and isinstance(nonce, str) and len(nonce) <= 100):
            raise HTTPError(400, "a knock has a kernel and a nonce")
        self.extension.knocked(kernel, nonce)
        self.refuse(202, {})


class Models(KernelRoute):
    """``GET v1/models``."""

    @allow_unauthenticated
    async def get(self) -> None:
        self.kernel()
        found = [
            {"id": each.name, "object": "model", "context_length": each.context_window or None}
            for each in self.extension.models.values()
        ]
        self.finish(json.dumps({"object": "list", "data": found}))


class Ask(KernelRoute):
    """``POST v1/chat/completions`` and ``v1/responses``."""

    _work: asyncio.Task[None] | None = None

    def prepare(self) -> None:
        self._kernel = self.kernel()  # before the body is read
        self.max_body_bytes = int(self.extension.settings.max_request_mb) << 20
        super().prepare()

    @allow_unauthenticated
    async def post(self, path: str) -> None:
        from hermes_jupyter.server.passing import NotPassed  # with the first request

        self._work = asyncio.get_running_loop().create_task(self._pass(APIS[path]))
        await asyncio.wait({self._work})
        if self._work.cancelled():  # the client has gone
            return
        failed = self._work.exception()
        if isinstance(failed, NotPassed) and not self._headers_written:
            for name, value in failed.headers.items():
                self.set_header(name, value)
            self.set_header("Content-Type", "application/json")
            self.refuse(failed.status, failed.body)
        elif isinstance(failed, NotPassed):
            self._line.close()  # half an answer is none
        elif failed is not None and not isinstance(failed, StreamClosedError):
            raise failed

    def on_connection_close(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def _pass(self, api: str) -> None:
        passing = self.extension.passing
        asked = passing.read(self._kernel, api, bytes(self._body))
        await passing.answer(asked, self._begin, self._send)
        self.finish()

    def _begin(self, kind: str) -> None:
        self.set_header("Content-Type", kind)
        self.set_header("X-Accel-Buffering", "no")

    async def _send(self, block: bytes) -> None:
        self.write(block)
        await self.flush()
