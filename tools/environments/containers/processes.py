"""Short processes on any host: started, fed, read to the end."""

from __future__ import annotations

import time

from tools.environments.containers.polled import PolledChannel
from tools.environments.host import Completed, HostError

SECONDS_BETWEEN_LOOKS = 0.2
QUIET_LOOKS = 5
"""After so many we read no further: a child that goes on holds the streams of the process."""


def complete(channel: PolledChannel, name: str, stdin: bytes, deadline: float) -> Completed:
    """Feed a process and wait for its end, until ``deadline`` of the monotonic clock.

    The channel is closed then.

    Raises
    ------
    HostError
        If it did not end in time, or the connection is lost.
    """
    printed: dict[str, bytearray] = {"out": bytearray(), "err": bytearray()}
    quiet = 0
    try:
        if stdin:
            channel.feed(stdin)
        channel.close_input()
        while (left := deadline - time.monotonic()) > 0:
            piece = channel.read(min(left, SECONDS_BETWEEN_LOOKS))
            if piece is not None:
                printed[piece.stream] += piece.data
            elif (code := channel.exit_code) is not None:
                quiet += 1
                if channel.at_end or quiet == QUIET_LOOKS:
                    return Completed(code, bytes(printed["out"]), bytes(printed["err"]))
    finally:
        channel.close()
    raise HostError(f"{name!r} did not end in time")
