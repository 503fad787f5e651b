"""Find the ZMQ stream that feeds the (sub)shell of this thread, on ipykernel 6.29 to 7.4.

The only module that knows how ipykernel is built inside. Names used that are not public:
``ZMQStream._recv_callback``, and on ipykernel 7 the shell channel thread's ``manager``.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class GateUnavailable(RuntimeError):
    """This thread runs no ipykernel shell, or a kernel that we do not know."""


@dataclass(frozen=True, slots=True)
class Shell:
    """Where this thread's shell reads requests and where its replies go."""

    stream: Any
    reply_to: Any
    look_again: Callable[[], object] = lambda: None
    """Have ipykernel look for requests that it has overlooked. Any thread."""


def current_shell() -> Any:
    """The shell of IPython in this process, or None (plain Python)."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def current_kernel() -> Any:
    """The ipykernel of this process, or None (terminal IPython, plain Python)."""
    return getattr(current_shell(), "kernel", None)


def shell_of_this_thread(kernel: Any) -> Shell:
    """The shell that this thread runs.

    ZMQ sockets are not thread-safe, so a thread may only read the stream that it runs itself.

    Raises
    ------
    GateUnavailable
    """
    channel_thread = getattr(kernel, "shell_channel_thread", None)
    found = _shell_of_7(kernel) if channel_thread is not None else _shell_of_6(kernel)
    if not hasattr(found.stream, "_recv_callback"):
        raise GateUnavailable("this pyzmq has an unknown ZMQStream")
    return found


def _shell_of_6(kernel: Any) -> Shell:
    """ipykernel 6: the main thread reads the ROUTER socket itself."""
    stream = getattr(kernel, "shell_stream", None)
    try:
        here = asyncio.get_running_loop() is kernel.io_loop.asyncio_loop
    except (RuntimeError, AttributeError):
        here = False
    if stream is None or not here:
        raise GateUnavailable("this is not the thread of the kernel's shell")
    return Shell(stream, stream)


def _shell_of_7(kernel: Any) -> Shell:
    """ipykernel 7: a thread reads the ROUTER and feeds each (sub)shell over an inproc pair.

    Up to 7.3 it sends replies past the stream that waits for requests. A request that comes at
    such a moment lies there until the next one comes.
    """
    import zmq  # not for terminals, which have no use for it

    thread = kernel.shell_channel_thread

    def look_again() -> None:
        thread.io_loop.add_callback(kernel.shell_stream.flush, zmq.POLLIN)

    try:
        manager = thread.manager
        overlooks = not hasattr(manager, "_shell_stream")
        subshell = manager.subshell_id_from_thread_id(threading.get_ident())
        return Shell(
            manager.get_shell_channel_to_subshell_pair(subshell).to_stream,
            manager.get_subshell_to_shell_channel_socket(subshell),
            look_again if overlooks else lambda: None,
        )
    except (RuntimeError, AttributeError) as error:
        raise GateUnavailable(str(error)) from None


def reading_thread(kernel: Any) -> Any:
    """The thread of ipykernel 7 that reads what comes to the shell.

    Raises
    ------
    GateUnavailable
        If there is none.
    """
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None:
        raise GateUnavailable("this ipykernel reads messages in the thread that runs cells")
    return thread


def shell_of_reading_thread(kernel: Any) -> Shell:
    """What that thread reads, and where it sends replies; to be used in it only."""
    reading_thread(kernel)
    stream = kernel.shell_stream
    if not hasattr(stream, "_recv_callback"):
        raise GateUnavailable("this pyzmq has an unknown ZMQStream")
    return Shell(stream, stream)


@contextmanager
def interrupt_deferred() -> Iterator[None]:
    """Hold back a KeyboardInterrupt: between receive and dispatch it would lose a message."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hits: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, _frame: hits.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if hits and callable(usual):
        usual(hits[0], None)


def user_namespace() -> dict[str, Any]:
    """The user's variables; empty outside of IPython."""
    found: dict[str, Any] = getattr(_shell(), "user_ns", {})
    return found


def first_folder() -> Path | None:
    """The folder in which IPython started: where its notebook lies, whatever cells go to since."""
    been = user_namespace().get("_dh") or [None]
    return Path(str(been[0])) if been[0] else None


def hidden_names() -> list[str]:
    """Names in it that are IPython's own."""
    return [*getattr(_shell(), "user_ns_hidden", ())]


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
