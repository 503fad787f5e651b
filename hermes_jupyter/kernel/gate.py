"""Let a cell hear its own buttons while it runs.

A click is a message on the kernel's shell channel, where messages wait until the running cell
has ended. While a turn waits, the gate stands in front of that queue: messages for widgets of
ours, and the few requests that a reloaded page needs, are served at once; all others go to
ipykernel's own callback in the order in which they came. Nothing is kept back or replayed, so
queued cells, ``stop_on_error`` and aborted replies are ipykernel's own.
"""

from __future__ import annotations

import inspect
import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import zmq

from hermes_jupyter.kernel.pages import TARGET
from hermes_jupyter.kernel.shell import interrupt_deferred, shell_of_this_thread

logger = logging.getLogger(__name__)

COMM_MESSAGES = frozenset({"comm_open", "comm_msg", "comm_close"})
INFO_REQUESTS = frozenset({"kernel_info_request", "comm_info_request"})
"""What a reloaded page asks before it can show its widgets again."""
BUSY_SECONDS = 1.0
WIDGET_CONTROL = "jupyter.widget.control"

Message = dict[str, Any]
Command = Callable[[Message], object]
"""Answers a cell; a text that it returns is printed below it."""


class ShellGate:
    """Stands in front of the shell of the thread that makes it.

    Parameters
    ----------
    kernel
        The running ipykernel.
    owned
        Ids of the comms whose messages may overtake the cell; read live.
    commands
        Texts of whole cells that are answered at once, and what to do for them. ``%hermes say ...``
        stands for all that begin so, and have one line.
    on_new_page
        Called when a page that has just been (re)loaded asks for the kernel's widgets.

    Raises
    ------
    GateUnavailable
        In a thread that runs no shell of the kernel.
    """

    current: ShellGate | None = None
    """The innermost open gate, for code in other threads that needs the cell's thread."""

    def __init__(
        self,
        kernel: Any,
        owned: set[str],
        commands: dict[str, Command],
        on_new_page: Callable[[], None],
    ) -> None:
        self._kernel = kernel
        self._on_new_page = on_new_page
        self._shell = shell_of_this_thread(kernel)
        self._owned = owned
        self._commands = commands
        self._thread = threading.get_ident()
        self._control_comms: set[str] = set()
        self._said_busy = time.monotonic()
        self._forward: Callable[..., Any] | None = None
        self._outer: ShellGate | None = None
        self._jobs: deque[Callable[[], None]] = deque()
        # A pair of sockets, not a pipe: Windows can poll it.
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)

    @contextmanager
    def serving(self) -> Iterator[ShellGate]:
        """Filter the shell's messages until the block ends. Gates nest, and end in any order."""
        self._outer, ShellGate.current = ShellGate.current, self
        stream = self._shell.stream
        self._forward = stream._recv_callback
        stream.on_recv(self._receive, copy=False)
        try:
            yield self
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
        gate = ShellGate.current
        if gate is self:
            ShellGate.current = self._outer
        while gate is not None:
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
        """Run ``job`` in the cell's thread at its next `pump`. Any thread."""
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

    def _stay_busy(self) -> None:
        """Say once a second that the kernel is busy.

        A page makes subshells for its widgets over the control channel, whose answer ends in
        *idle*, and would show the kernel so for the rest of the turn.
        """
        if time.monotonic() - self._said_busy > BUSY_SECONDS:
            self._said_busy = time.monotonic()
            self._status("busy", self._kernel.get_parent("shell"))

    def _receive(self, frames: list[Any]) -> Any:
        try:
            # A single frame is ipykernel 7's own "stop aborting" mark.
            if len(frames) > 1 and self._serve(frames):
                return None
        except Exception:  # a message that we cannot read is ipykernel's to judge
            logger.warning("message not served while the cell is busy", exc_info=True)
        assert self._forward is not None
        return self._forward(frames)

    def _serve(self, frames: list[Any]) -> bool:
        session = self._kernel.session
        idents, parts = session.feed_identities(frames, copy=False)
        # A look without content leaves the signature unused: a second full reading of the same
        # message is refused as a replay.
        peek = session.deserialize(parts, content=False, copy=False)
        kind = peek["header"]["msg_type"]
        content = session.unpack(peek["content"])
        action = self._action(kind, content)
        if action is None:
            return False
        message = session.deserialize(parts, content=True, copy=False)
        self._status("busy", message)
        try:
            action(message, idents)
        except Exception:
            logger.exception("%s failed while the cell was busy", kind)
        finally:
            self._status("idle", message)  # a widget holds back its next change until it sees this
            self._status("busy", self._kernel.get_parent("shell"))  # and the cell still runs
        return True

    def _action(self, kind: str, content: Message) -> Callable[[Message, Any], None] | None:
        """What to do at once for such a message; None leaves it to ipykernel."""
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
            return self._comm_message if kind == "comm_msg" else self._hand_over
        return None

    def _command(self, code: str) -> Command | None:
        words = code.split(None, 2)
        if code in self._commands or len(words) < 3 or "\n" in code:
            return self._commands.get(code)
        return self._commands.get(f"{words[0]} {words[1]} ...")

    def _comm_message(self, message: Message, idents: Any) -> None:
        """Call the widget's callback itself.

        ``comm.handle_msg`` would fire ``pre_execute`` and ``post_execute``, on which matplotlib
        shows and closes half-drawn figures of the running cell. The parent stays the cell's, so
        that what a callback prints lands there.
        """
        comm = self._kernel.comm_manager.comms.get(message["content"].get("comm_id"))
        if comm is None:
            self._hand_over(message, idents)
        elif comm._msg_callback is not None:
            comm._msg_callback(message)

    def _hand_over(self, message: Message, idents: Any) -> None:
        handler = self._kernel.shell_handlers[message["header"]["msg_type"]]
        _finish(handler(self._shell.reply_to, idents, message))

    def _run_command(self, command: Command, message: Message, idents: Any) -> None:
        said = command(message)
        if isinstance(said, str):
            self._publish("stream", {"name": "stdout", "text": said}, message)
        reply = {
            "status": "ok",
            "execution_count": self._kernel.execution_count,
            "user_expressions": {},
            "payload": [],
        }
        self._kernel.session.send(
            self._shell.reply_to, "execute_reply", reply, parent=message, ident=idents
        )

    def _status(self, state: str, parent: Message) -> None:
        self._publish("status", {"execution_state": state}, parent)

    def _publish(self, kind: str, content: Message, parent: Message) -> None:
        kernel = self._kernel
        kernel.session.send(
            kernel.iopub_socket, kind, content, parent=parent, ident=kernel._topic(kind)
        )


def _finish(result: Any) -> None:
    """Finish a handler that is declared async but awaits nothing."""
    if not inspect.iscoroutine(result):
        return
    try:
        result.send(None)
    except StopIteration:
        return
    result.close()
    raise RuntimeError("the handler suspends; it cannot be served while a cell runs")
