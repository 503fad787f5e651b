"""A line to one kernel: requests on its control channel, and what it tells on IOPub.

See docs/control-protocol.md. Everything happens on the server's loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_client.session import Session

logger = logging.getLogger(__name__)

PROTOCOL = 1
REQUEST, REPLY, EVENT = "hermes_request", "hermes_reply", "hermes_event"
INFO_REQUEST, INFO_REPLY = "kernel_info_request", "kernel_info_reply"
EVENTS = ("ready", "unloaded", "asked", "answered", "turn")
"""What a kernel may tell; a server tells its pages more than that, and no kernel shall."""
FEATURE = "hermes agents"
"""What a kernel with the extension lists in its info; others get no request of ours."""
SECONDS = 3.0
"""A kernel that does not hang answers in milliseconds."""
UNLOADED = "the kernel has not loaded the extension: %load_ext hermes_jupyter"

Content = Mapping[str, Any]
Hear = Callable[[Content], None]


class Silent(ConnectionError):
    """The kernel does not answer: it hangs, or is gone."""


class Unloaded(Silent):
    """The kernel knows nothing of our requests, and was not sent any."""


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
        self._speaks: asyncio.Future[bool] | None = None

    def leads_to(self, kernel: Any) -> bool:
        """Is it the line to this kernel as it is now?"""
        return kernel is self._kernel and process_of(kernel) == self._process

    @property
    def is_known(self) -> bool:
        """Has the kernel said whether it has loaded the extension?"""
        return self._speaks is not None and self._speaks.done()

    async def speaks(self) -> bool:
        """Has the kernel loaded the extension? It is asked once; then it says itself what changes.

        A kernel that hangs is waited for. One for another language is not asked: some complain
        of all that comes this way.
        """
        if self._speaks is None:
            self._speaks = asyncio.get_running_loop().create_future()
            if _is_for_python(self._kernel):
                self._session.send(self._control, INFO_REQUEST)
            else:
                self._speaks.set_result(False)
        return await asyncio.shield(self._speaks)

    async def ask(self, do: str, within: float = SECONDS, **about: Any) -> Content:
        """Send a request and wait for what it brings.

        Raises
        ------
        Refused, Silent, Unloaded
        """
        try:
            async with asyncio.timeout(within):
                if not await self.speaks():
                    raise Unloaded(UNLOADED)
                reply = await self._reply_to({"protocol": PROTOCOL, "do": do, **about})
        except TimeoutError:
            if self.is_known:
                self._speaks = None  # it may be another one by now
            raise Silent("the kernel does not answer") from None
        if reply.get("status") != "ok":
            raise Refused(str(reply.get("ename")), str(reply.get("evalue")))
        return reply

    async def _reply_to(self, content: Content) -> Content:
        message = self._session.msg(REQUEST, dict(content))
        name = str(message["header"]["msg_id"])
        self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            self._session.send(self._control, message)
            return await self._waiting[name]
        finally:
            del self._waiting[name]

    def close(self) -> None:
        """End it; whoever waits for an answer learns that none will come."""
        for stream in (self._control, self._iopub):
            if not stream.closed():
                stream.on_recv(None)
                stream.close(linger=0)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Silent("the kernel is gone"))
        if self._speaks is not None and not self._speaks.done():
            self._speaks.set_result(False)

    def _know(self, speaks: bool) -> None:
        if self._speaks is None or self._speaks.done():
            self._speaks = asyncio.get_running_loop().create_future()
        self._speaks.set_result(speaks)

    def _replied(self, frames: list[bytes]) -> None:
        kind, about, content = self._read(frames)
        # What the kernel has said since by itself is newer than this.
        if kind == INFO_REPLY and not self.is_known:
            features = content.get("supported_features")
            self._know(isinstance(features, list) and FEATURE in features)
        future = self._waiting.get(about)
        if kind == REPLY and future is not None and not future.done():
            future.set_result(content)

    def _told(self, frames: list[bytes]) -> None:
        kind, _, content = self._read(frames)
        if kind == EVENT and content.get("event") in EVENTS:
            self._know(content["event"] != "unloaded")
            self._hear(content)

    def _read(self, frames: list[bytes]) -> tuple[str, str, Content]:
        """Type, the id of the request that it answers, and content; empty if it is no message."""
        try:
            _, parts = self._session.feed_identities(frames)
            message = self._session.deserialize(parts)
            about, content = message["parent_header"].get("msg_id", ""), message["content"]
            if isinstance(content, dict):
                json.dumps(content, allow_nan=False)  # else no page could read it, nor the others'
                return str(message["msg_type"]), str(about), content
        # Not signed with the kernel's key, or broken.
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            logger.warning("a message of a kernel cannot be read", exc_info=True)
        return "", "", {}


def _is_for_python(kernel: Any) -> bool:
    spec = getattr(kernel, "kernel_spec", None)
    return spec is None or spec.language.lower() in ("", "python")


def process_of(kernel: Any) -> tuple[object, ...]:
    """What changes when the kernel is started anew."""
    process = getattr(kernel, "provisioner", None)
    return (*getattr(kernel, "ports", ()), getattr(process, "pid", None))
