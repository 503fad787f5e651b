"""Requests that arrive while the kernel's main thread is stuck: the control channel.

ipykernel reads that channel in a thread of its own, so what is asked here is answered whatever a
cell does. docs/control-protocol.md says what may be asked. Answers must not wait: interrupts and
the debugger come the same way.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from hermes_jupyter.kernel.announcing import Announced
from hermes_jupyter.kernel.control_reading import KeptReading

logger = logging.getLogger(__name__)

PROTOCOL = 1
REQUEST, REPLY, EVENT = "hermes_request", "hermes_reply", "hermes_event"
TOPIC = EVENT.encode()
"""Whoever wants only our events subscribes to this, and gets nothing of what cells print."""
REMEMBERED = 256
"""Front ends that are known to hear this channel."""
SESSION_CHARS = 200
BROKEN = "the kernel could not do it; its log says why"

Content = Mapping[str, Any]
Answering = Callable[[Content], Content]
"""Does what a request asks for; in the control channel's thread."""


class Refusal(Exception):
    """Why a request is not done: a code for programs, and a line for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class ControlChannel:
    """Answers our requests on the control channel of a kernel, and tells its clients of events.

    Parameters
    ----------
    kernel
        The running ipykernel.
    answering
        Raises a `Refusal` for what it does not do.
    """

    def __init__(self, kernel: Any, answering: Answering) -> None:
        self._kernel, self._answering = kernel, answering
        self.clients: OrderedDict[str, None] = OrderedDict()
        """Session ids of the front ends that have asked last."""
        self._cell: Content | None = None
        """The request that runs a cell now."""
        self._events = {"pre_run_cell": self._begins, "post_run_cell": self._ended}
        for name, hear in self._events.items():
            kernel.shell.events.register(name, hear)
        kernel.control_handlers[REQUEST] = self._handle
        self._also = (Announced(kernel), KeptReading(kernel))

    def close(self) -> None:
        """Hear nothing any more."""
        for each in self._also:
            each.close()
        self._kernel.control_handlers.pop(REQUEST, None)
        for name, hear in self._events.items():
            self._kernel.shell.events.unregister(name, hear)

    def tell(self, event: str, **about: Any) -> None:
        """Tell all clients of something. Any thread.

        It belongs to no cell, so it has no parent: a page that waits for a cell's output is not
        disturbed.
        """
        kernel = self._kernel
        content = {"protocol": PROTOCOL, "event": event, **about}
        kernel.session.send(kernel.iopub_socket, EVENT, content, ident=TOPIC)

    def _handle(self, stream: Any, ident: Any, message: Mapping[str, Any]) -> None:
        self._remember(str(message.get("header", {}).get("session", ""))[:SESSION_CHARS])
        reply = self._reply(message.get("content"))
        self._kernel.session.send(stream, REPLY, reply, parent=message, ident=ident)
        if self._cell is not None and (thread := self._kernel.control_thread) is not None:
            thread.io_loop.add_callback(self._stay_busy)

    def _remember(self, client: str) -> None:
        self.clients[client] = None
        self.clients.move_to_end(client)
        if len(self.clients) > REMEMBERED:
            self.clients.popitem(last=False)

    def _stay_busy(self) -> None:
        """ipykernel has just said that it is idle, of our request; a cell still runs.

        Pages would show an idle kernel, and a server that ends idle kernels might end this one.
        """
        if (cell := self._cell) is not None:
            kernel = self._kernel
            kernel.session.send(
                kernel.iopub_socket,
                "status",
                {"execution_state": "busy"},
                parent=cell,
                ident=kernel._topic("status"),
            )

    def _begins(self, _info: object = None) -> None:
        try:
            self._cell = dict(self._kernel.get_parent("shell"))
        except LookupError:  # ipykernel 7.0, in a thread of which it knows no request
            self._cell = None

    def _ended(self, _result: object = None) -> None:
        self._cell = None

    def _reply(self, content: object) -> Content:
        try:
            if not isinstance(content, Mapping):
                raise Refusal("invalid", "a request is a JSON object")
            if content.get("protocol") != PROTOCOL:
                raise Refusal("protocol", f"this kernel speaks version {PROTOCOL} of the protocol")
            return {"status": "ok", "protocol": PROTOCOL, **self._answering(content)}
        except Refusal as refusal:
            return _error(refusal.code, str(refusal))
        except Exception:  # without a reply the client would wait in vain
            logger.exception("a request on the control channel failed")
            return _error("failed", BROKEN)


def _error(code: str, text: str) -> Content:
    return {"status": "error", "protocol": PROTOCOL, "ename": code, "evalue": text}


class _Process:
    """Holds the one channel of this process."""

    channel: ControlChannel | None = None


def begin(kernel: Any, answering: Answering) -> None:
    """Answer requests from now on; where there is no ipykernel, nobody can ask."""
    end()
    if hasattr(kernel, "control_handlers") and hasattr(kernel, "shell"):
        _Process.channel = ControlChannel(kernel, answering)
        _Process.channel.tell("ready")


def end() -> None:
    """Answer nothing any more."""
    if _Process.channel is not None:
        _Process.channel.close()
        _Process.channel.tell("unloaded")
        _Process.channel = None


def is_open() -> bool:
    """Can others ask this process's kernel?"""
    return _Process.channel is not None


def tell(event: str, **about: Any) -> None:
    """Tell all clients of this process's kernel, if there are any."""
    if _Process.channel is not None:
        _Process.channel.tell(event, **about)


def has_heard(client: str) -> bool:
    """Has this front end, by its session id, asked something on the control channel?"""
    return _Process.channel is not None and client in _Process.channel.clients
