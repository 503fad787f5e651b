"""Kernels made of two sockets each: they speak the control protocol, and run nothing."""

from __future__ import annotations

import threading
import uuid
from types import TracebackType
from typing import Any, Self

import zmq
from jupyter_client.session import Session
from zmq.eventloop.zmqstream import ZMQStream

WAITING = {"requests": [{"id": "r", "digest": "d"}], "questions": [], "turns": []}


class StandIn:
    """One kernel, as its manager is to the server.

    ``replies`` says how it answers: ``pending``, ``silence`` or ``garbage``.
    """

    def __init__(self, context: zmq.Context[Any], replies: str = "pending") -> None:
        self.context, self.replies = context, replies
        self.session = Session(key=uuid.uuid4().bytes)
        self.own = Session(key=self.session.key)
        self.control = context.socket(zmq.ROUTER)
        self.iopub = context.socket(zmq.PUB)
        self.ports = [each.bind_to_random_port("tcp://127.0.0.1") for each in self._sockets]
        self.provisioner = type("Process", (), {"pid": 1})()
        self.heard: list[dict[str, Any]] = []

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
        self.heard.append(message["content"])
        if self.replies == "garbage":
            self.control.send_multipart([*ident, b"<IDS|MSG>", b"no", b"{", b"{", b"{", b"{"])
        elif self.replies == "pending":
            content = {"status": "ok", "protocol": 1, **WAITING}
            self.own.send(self.control, "hermes_reply", content, parent=message, ident=ident)

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
