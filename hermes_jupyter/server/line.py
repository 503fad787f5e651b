"""A line to one kernel: requests on its control channel, and what it tells on IOPub.

See docs/control-protocol.md. Everything happens on the server's loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_client.session import Session

logger = logging.getLogger(__name__)

PROTOCOL = 1
REQUEST, REPLY, EVENT = "hermes_request", "hermes_reply", "hermes_event"
SECONDS = 3.0
"""A kernel with the extension answers in milliseconds; one without never does."""

Content = Mapping[str, Any]
Hear = Callable[[Content], None]


class Silent(ConnectionError):
    """The kernel does not answer: it has no extension loaded, hangs, or is gone."""


class Refused(ValueError):
    """The kernel does not do it."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Line:
    """To one kernel, until it is started anew.

    Parameters
    ----------
    kernel
        Its manager, as the server keeps it.
    hear
        Told each event of the kernel.

    Raises
    ------
    Silent
        If this server does not reach the kernel itself, as behind a gateway.
    """

    def __init__(self, kernel: Any, hear: Hear) -> None:
        if not hasattr(kernel, "connect_control"):
            raise Silent("this server reaches its kernels through a gateway")
        self._kernel, self._hear = kernel, hear
        self._process = process_of(kernel)
        own = kernel.session
        self._session = Session(key=own.key, signature_scheme=own.signature_scheme)
        self._control = kernel.connect_control()
        self._control.on_recv(self._replied)
        self._iopub = kernel.connect_iopub()
        # Nothing else of what the kernel shows comes here, however much that is.
        self._iopub.socket.unsubscribe(b"")
        self._iopub.socket.subscribe(EVENT.encode())
        self._iopub.on_recv(self._told)
        self._waiting: dict[str, asyncio.Future[Content]] = {}

    def leads_to(self, kernel: Any) -> bool:
        """Is it the line to this kernel as it is now?"""
        return kernel is self._kernel and process_of(kernel) == self._process

    async def ask(self, do: str, within: float = SECONDS, **about: Any) -> Content:
        """Send a request and wait for what it brings.

        Raises
        ------
        Refused, Silent
        """
        content = {"protocol": PROTOCOL, "do": do, **about}
        message = self._session.msg(REQUEST, content)
        name = str(message["header"]["msg_id"])
        self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            self._session.send(self._control, message)
            async with asyncio.timeout(within):
                reply = await self._waiting[name]
        except TimeoutError:
            raise Silent("the kernel does not answer") from None
        finally:
            del self._waiting[name]
        if reply.get("status") != "ok":
            raise Refused(str(reply.get("ename")), str(reply.get("evalue")))
        return reply

    def close(self) -> None:
        """End it; whoever waits for an answer learns that none will come."""
        for stream in (self._control, self._iopub):
            if not stream.closed():
                stream.on_recv(None)
                stream.close(linger=0)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Silent("the kernel is gone"))

    def _replied(self, frames: list[bytes]) -> None:
        message = self._read(frames)
        future = self._waiting.get(message.get("parent_header", {}).get("msg_id", ""))
        if message.get("msg_type") == REPLY and future is not None and not future.done():
            future.set_result(message["content"])

    def _told(self, frames: list[bytes]) -> None:
        message = self._read(frames)
        if message.get("msg_type") == EVENT and isinstance(message.get("content"), dict):
            self._hear(message["content"])

    def _read(self, frames: list[bytes]) -> dict[str, Any]:
        try:
            _, parts = self._session.feed_identities(frames)
            return dict(self._session.deserialize(parts))
        except (ValueError, TypeError, IndexError):  # not signed with the kernel's key, or broken
            logger.warning("a message of a kernel cannot be read", exc_info=True)
            return {}


def process_of(kernel: Any) -> tuple[object, ...]:
    """What changes when the kernel is started anew."""
    process = getattr(kernel, "provisioner", None)
    return (*getattr(kernel, "ports", ()), getattr(process, "pid", None))
