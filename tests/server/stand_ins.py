"""Kernels made of two sockets each: they speak the control protocol, and run nothing."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import zmq
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.session import Session
from zmq.eventloop.zmqstream import ZMQStream

WAITING = {"requests": [{"id": "r", "digest": "d"}], "questions": [], "turns": []}

CONTENTS: Mapping[str, Any] = {
    "pending": {"status": "ok", "protocol": 1, **WAITING},
    "list": b'["ok"]',
    "lies": {"status": "ok", "protocol": 1, "requests": [None, "x"], "turns": 7},
}


class StandIn:
    """One kernel, as its manager is to the server.

    ``replies`` says how it answers: ``pending``, ``silence``, ``garbage``, ``list`` in the place of
    an object, ``lies`` that are no requests, ``plain`` as one that has not loaded the extension,
    ``R`` as one that cannot, or ``late``: nothing before `wake`, and then as ``pending``.
    """

    def __init__(self, context: zmq.Context[Any], replies: str = "pending") -> None:
        self.context, self.replies = context, replies
        self.session = Session(key=uuid.uuid4().bytes)
        self.own = Session(key=self.session.key)
        self.control = context.socket(zmq.ROUTER)
        self.iopub = context.socket(zmq.PUB)
        self.ports = [each.bind_to_random_port("tcp://127.0.0.1") for each in self._sockets]
        self.kernel_spec = KernelSpec(language="R" if replies == "R" else "python")
        self.provisioner = type("Process", (), {"pid": 1})()
        self.heard: list[str] = []
        """The types of what it was sent."""
        self.asleep: list[Any] = []

    @property
    def _sockets(self) -> tuple[Any, Any]:
        return self.control, self.iopub

    def connect_control(self) -> ZMQStream:
        return self._stream(zmq.DEALER, self.ports[0])

    def connect_iopub(self) -> ZMQStream:
        stream = self._stream(zmq.SUB, self.ports[1])
        stream.socket.subscribe(b"")
        return stream

    def _stream(self, kind: int, port: int) -> ZMQStream:
        socket = self.context.socket(kind)
        socket.connect(f"tcp://127.0.0.1:{port}")
        return ZMQStream(socket)

    def answer(self) -> None:
        """One request that has come."""
        ident, parts = self.own.feed_identities(self.control.recv_multipart())
        message = self.own.deserialize(parts)
        self.heard.append(message["header"]["msg_type"])
        if self.replies == "garbage":
            self.control.send_multipart([*ident, b"<IDS|MSG>", b"no", b"{", b"{", b"{", b"{"])
        elif self.replies == "late":
            self.asleep.append((ident, message))
        elif self.replies != "silence":
            self._reply(ident, message)

    def wake(self) -> None:
        """Answer all that has come meanwhile, and what comes, at once."""
        self.replies = "pending"
        while self.asleep:
            self._reply(*self.asleep.pop(0))

    def _reply(self, ident: Any, message: dict[str, Any]) -> None:
        if message["header"]["msg_type"] == "kernel_info_request":
            features = ["debugger"] if self.replies == "plain" else ["debugger", "hermes agents"]
            kind, content = "kernel_info_reply", {"status": "ok", "supported_features": features}
        elif self.replies in CONTENTS:
            kind, content = "hermes_reply", CONTENTS[self.replies]
        else:
            return
        self.own.send(self.control, kind, content, parent=message, ident=ident)

    def tell(self, event: dict[str, Any]) -> None:
        self.own.send(self.iopub, "hermes_event", event, ident=b"hermes_event")

    def close(self) -> None:
        for each in self._sockets:
            each.close(linger=0)


class Manager:
    """A server's manager of kernels, and the thread in which all of them run."""

    def __init__(self, *replies: str) -> None:
        self._context: zmq.Context[Any] = zmq.Context()
        self.kernels = {f"k{n}": StandIn(self._context, each) for n, each in enumerate(replies)}
        self._open = True
        self._thread = threading.Thread(target=self._serve)

    def list_kernel_ids(self) -> list[str]:
        return [*self.kernels]

    def get_kernel(self, name: str) -> StandIn:
        return self.kernels[name]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open = False
        self._thread.join()
        self._context.destroy(linger=0)

    def _serve(self) -> None:
        there = [*self.kernels.values()]
        poller = zmq.Poller()
        for each in there:
            poller.register(each.control, zmq.POLLIN)
        while self._open:
            ready = dict(poller.poll(20))
            for each in there:
                if each.control in ready:
                    each.answer()
        for each in there:
            each.close()
