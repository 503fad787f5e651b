"""One process in a container of a Docker engine."""

from __future__ import annotations

import time
from collections.abc import Callable

from tools.environments.containers.docker_wire import Frames, SocketWire
from tools.environments.containers.polled import PolledChannel, Wire
from tools.environments.host import Piece

SECONDS_BETWEEN_LOOKS = 0.2
"""While its streams are open, for each look is a request, and a waiting reader looks often."""


class DockerChannel(PolledChannel):
    """What a process prints and reads over one connection to the engine.

    Parameters
    ----------
    wire
        The connection.
    frames
        Takes the streams apart; None for a terminal, which has only one.
    look
        Asks the engine for the exit code; None while it runs. Raises HostError if the engine or
        the container is gone.
    """

    def __init__(
        self, wire: SocketWire, frames: Frames | None, look: Callable[[], int | None]
    ) -> None:
        super().__init__({wire: "out"}, wire)
        self._wire = wire
        self._frames = frames
        self._look = look
        self._exit_code: int | None = None
        self._next_look = 0.0

    @property
    def exit_code(self) -> int | None:
        now = time.monotonic()
        if self._exit_code is None and (self.at_end or now >= self._next_look):
            self._next_look = now + SECONDS_BETWEEN_LOOKS
            self._exit_code = self._look()
        return self._exit_code

    def _take(self, wire: Wire, data: bytes) -> None:
        if not data:
            self._exit_code = self._look()  # the connection may have ended with the engine
            self._ready.append(Piece("out", b""))
            if self._frames is not None:
                self._ready.append(Piece("err", b""))
        elif self._frames is None:
            self._ready.append(Piece("out", data))
        else:
            for is_error, part in self._frames.split(data):
                self._ready.append(Piece("err" if is_error else "out", part))

    def _close_wires(self) -> None:
        self._wire.close()
