"""How kernels are started: told where the server is, and without the keys that it keeps."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

ANYWHERE = frozenset({"", "localhost", "0.0.0.0", "*", "::"})
"""Where a server listens that can be reached on this machine by its own name for itself."""

Change = Callable[[Mapping[str, str]], dict[str, str]]


def change_environment(manager: Any, change: Change) -> None:
    """Have all kernels that the manager starts from now on get another environment.

    Restarts keep what a kernel was started with.
    """
    start = manager.start_kernel

    async def start_kernel(**options: Any) -> Any:
        env = options.pop("env", None)
        changed = change(os.environ if env is None else env)
        return await start(**options, env=changed)

    manager.start_kernel = start_kernel


def leave_unwatched(manager: Any, *kinds: str) -> None:
    """Have messages of these types, and what answers them, count as no use of a kernel.

    Else a page that looks what waits would keep kernels from being ended for want of use.
    """
    if hasattr(manager, "untracked_message_types"):
        manager.untracked_message_types = [*manager.untracked_message_types, *kinds]


def address_of(serverapp: Any) -> str:
    """Where the server is for a process on its machine; empty if it listens on a UNIX socket."""
    if serverapp.sock:
        return ""
    scheme = "https" if serverapp.certfile else "http"
    host = "127.0.0.1" if serverapp.ip in ANYWHERE else serverapp.ip
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}:{serverapp.port}{serverapp.base_url}"
