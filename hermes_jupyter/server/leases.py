"""Tokens with which kernels may ask models through the server.

Each is of one process of one kernel, holds for some minutes, and is worth nothing when that
process is gone. Only digests of tokens are looked up.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hermes_jupyter.model_settings import LEASED

Process = Callable[[str], tuple[object, ...] | None]
"""What changes when a kernel is started anew; None if there is no such kernel."""


class NoLease(PermissionError):
    """The token is none, or not any more. One line, with the remedy."""


@dataclass(frozen=True, slots=True)
class Lease:
    """What one kernel has."""

    kernel: str
    process: tuple[object, ...]
    token: str = field(repr=False)
    ends: float
    """On the clock of the leases."""


class Leases:
    """All that are out. On the server's loop."""

    def __init__(
        self, process: Process, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._process, self.seconds, self._clock = process, seconds, clock
        self._of: dict[str, Lease] = {}
        """By kernel."""
        self._by_digest: dict[bytes, str] = {}

    def proposed(self, kernel: str) -> Lease:
        """What a kernel shall get: its own for longer, or a new one. It holds after `keep`.

        Raises
        ------
        NoLease
            If there is no such kernel.
        """
        process = self._process(kernel)
        if process is None:
            raise NoLease("this server has no such kernel")
        there = self._of.get(kernel)
        ends = self._clock() + self.seconds
        if there is not None and there.process == process and there.ends > self._clock():
            return replace(there, ends=ends)
        return Lease(kernel, process, f"{LEASED}{secrets.token_urlsafe(32)}", ends)

    def of(self, kernel: str) -> Lease | None:
        """What a kernel has."""
        return self._of.get(kernel)

    def keep(self, lease: Lease) -> None:
        """Let it hold, in the place of what the kernel had."""
        self.drop(lease.kernel)
        self._of[lease.kernel] = lease
        self._by_digest[_digest(lease.token)] = lease.kernel

    def drop(self, kernel: str) -> None:
        """Take a kernel's back."""
        if (there := self._of.pop(kernel, None)) is not None:
            del self._by_digest[_digest(there.token)]

    def kernel_of(self, token: str) -> str:
        """Whose token it is.

        Raises
        ------
        NoLease
        """
        kernel = self._by_digest.get(_digest(token))
        if kernel is None:
            raise NoLease("this token is none of this server: %hermes model --via-server")
        lease = self._of[kernel]
        if self._process(kernel) != lease.process:
            self.drop(kernel)
            raise NoLease("the kernel that had this token is gone")
        if lease.ends <= self._clock():
            self.drop(kernel)
            raise NoLease("this token has run out: %hermes model --via-server")
        return kernel


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
