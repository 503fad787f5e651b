"""Ask this kernel something over its own control channel, as a page would."""

from __future__ import annotations

import time
from typing import Any

from hermes_jupyter.kernel.control import PROTOCOL, REPLY, REQUEST

SECONDS = 3.0


def ask_over_control(kernel: Any, do: str, within: float = SECONDS) -> float:
    """Send a request through the channel's socket; the seconds until the reply was here.

    Raises
    ------
    ConnectionError
        If none came, or another one than was asked for.
    """
    import zmq
    from jupyter_client.session import Session

    session = Session(
        key=kernel.session.key, signature_scheme=kernel.session.signature_scheme, username="doctor"
    )
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(_address(kernel.parent))
        began = time.monotonic()
        session.send(socket, REQUEST, {"protocol": PROTOCOL, "do": do})
        if not socket.poll(int(within * 1_000)):
            raise ConnectionError(f"no answer within {within:g} s")
        seconds = time.monotonic() - began
        _, parts = session.feed_identities(socket.recv_multipart())
        reply = session.deserialize(parts)
    if reply["header"]["msg_type"] != REPLY or reply["content"].get("status") != "ok":
        raise ConnectionError(f"it was answered with {reply['content']}")
    return seconds


def _address(app: Any) -> str:
    if app.transport == "ipc":
        return f"ipc://{app.ip}-{app.control_port}"
    host = "127.0.0.1" if app.ip in ("", "*", "0.0.0.0", "localhost") else app.ip
    return f"{app.transport}://{host}:{app.control_port}"
