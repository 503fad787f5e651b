"""Let a cell hear its own buttons while it runs.

A click is a message on the kernel's shell channel, where messages wait until the running cell
has ended. While a turn waits, the gate stands in front of that queue: messages for widgets of
ours, and the few requests that a reloaded page needs, are served at once; all others go to
ipykernel's own callback in the order in which they came. Nothing is kept back or replayed, so
queued cells, ``stop_on_error`` and aborted replies are ipykernel's own.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import zmq

from hermes_jupyter.kernel.pages import TARGET
from hermes_jupyter.kernel.serving import Action, Command, Message, Serving
from hermes_jupyter.kernel.shell import interrupt_deferred, shell_of_this_thread
from hermes_jupyter.kernel.waiting import TakesJobs, Waiting

COMM_MESSAGES = frozenset({"comm_open", "comm_msg", "comm_close"})
INFO_REQUESTS = frozenset({"kernel_info_request", "comm_info_request"})
"""What a reloaded page asks before it can show its widgets again."""
WIDGET_CONTROL = "jupyter.widget.control"


class ShellGate(Serving):
    """Stands in front of the shell of the thread that makes it.

    Parameters
    ----------
    kernel
        The running ipykernel.
    owned
        Ids of the comms whose messages may overtake the cell; read live.
    commands
        Cells that are answered at once; see `Serving`.
    on_new_page
        Called when a page that has just been (re)loaded asks for the kernel's widgets.

    Raises
    ------
    GateUnavailable
        In a thread that runs no shell of the kernel.
    """

    def __init__(
        self,
        kernel: Any,
        owned: set[str],
        commands: dict[str, Command],
        on_new_page: Callable[[], None],
    ) -> None:
        super().__init__(kernel, shell_of_this_thread(kernel), commands)
        self._on_new_page = on_new_page
        self._owned = owned
        self._thread = threading.get_ident()
        self._control_comms: set[str] = set()
        self._outer: TakesJobs | None = None
        self._jobs: deque[Callable[[], None]] = deque()
        self._post: Callable[[Callable[[], None]], object] | None = None
        # A pair of sockets, not a pipe: Windows can poll it.
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)

    @contextmanager
    def serving(self, post: Callable[[Callable[[], None]], object] | None = None) -> Iterator[None]:
        """Filter the shell's messages until the block ends. Gates nest, and end in any order.

        ``post`` runs a job in this thread where nobody will `pump`.
        """
        self._post = post
        self._outer, Waiting.innermost = Waiting.innermost, self
        stream = self._shell.stream
        self._forward = stream._recv_callback
        stream.on_recv(self._receive, copy=False)
        try:
            yield
        finally:
            self._step_aside()
            self._wake_reader.close()
            self._wake_writer.close()

    def _step_aside(self) -> None:
        """Let those who stand before this gate forward to what stands behind it.

        Of two turns that are awaited side by side the first may well end first.
        """
        if self._shell.stream._recv_callback == self._receive:
            self._shell.stream.on_recv(self._forward, copy=False)
        gate = Waiting.innermost
        if gate is self:
            Waiting.innermost = self._outer
        while isinstance(gate, ShellGate):
            if gate._forward == self._receive:
                gate._forward = self._forward
            if gate._outer is self:
                gate._outer = self._outer
            gate = gate._outer

    def wake(self) -> None:
        """Make a waiting `pump` return. Any thread."""
        with suppress(OSError):  # full: it wakes anyway; closed: nobody waits
            self._wake_writer.send(b"x")

    def call_soon(self, job: Callable[[], None]) -> None:
        """Run ``job`` in the cell's thread, at its next `pump`. Any thread."""
        if self._post is not None:
            self._post(job)
            return
        self._jobs.append(job)
        self.wake()

    def pump(self, timeout: float) -> None:
        """Wait up to ``timeout`` seconds for messages or a wake, and serve them."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("pump() belongs to the thread that runs the cell")
        if not self._jobs:
            poller = zmq.Poller()
            poller.register(self._shell.stream.socket, zmq.POLLIN)
            poller.register(self._wake_reader.fileno(), zmq.POLLIN)
            poller.poll(max(0, int(timeout * 1000)))
        self._shell.look_again()
        with suppress(OSError):  # empty
            while self._wake_reader.recv(4096):
                pass
        self._stay_busy()
        with interrupt_deferred():
            self._shell.stream.flush(zmq.POLLIN)
            if hasattr(self._shell.reply_to, "flush"):  # ipykernel 6: its loop does not run now
                self._shell.reply_to.flush(zmq.POLLOUT)
        while self._jobs:
            self._jobs.popleft()()

    def look_again(self) -> None:
        """What `pump` does beside waiting; to be called now and then where the loop runs itself."""
        self._shell.look_again()
        self._stay_busy()

    def _running(self) -> Message | None:
        return dict(self._kernel.get_parent("shell"))

    def _action(self, kind: str, content: Message) -> Action | None:
        if kind == "execute_request":
            command = self._command(content.get("code", "").strip())
            return None if command is None else lambda m, i: self._run_command(command, m, i)
        if kind in INFO_REQUESTS:
            return self._hand_over
        if kind not in COMM_MESSAGES:
            return None
        comm_id = content.get("comm_id", "")
        if kind == "comm_open":
            if (target := content.get("target_name")) not in (WIDGET_CONTROL, TARGET):
                return None
            self._control_comms.add(comm_id)
            if target == WIDGET_CONTROL:
                self._on_new_page()
            return self._hand_over
        if comm_id in self._owned or comm_id in self._control_comms:
            return self._comm_message if kind == "comm_msg" else self._comm_close
        return None
