"""Let turns in the background hear their buttons while a cell of the user keeps the kernel busy.

On ipykernel 7 a thread of its own reads what comes to the shell, and hands it to the thread that
runs cells. Here messages for widgets of ours are answered in that reading thread, and so are the
``%hermes`` commands that must not wait. On ipykernel 6 the thread that runs cells reads itself, and
there is no such door: a click waits until the cell has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes_jupyter.kernel.serving import Action, Command, Message, Serving
from hermes_jupyter.kernel.shell import reading_thread, shell_of_reading_thread


class SideDoor(Serving):
    """Open for as long as somebody needs it.

    Parameters
    ----------
    kernel
        The running ipykernel.
    owned
        Ids of the comms whose messages do not wait for a cell; read live.
    commands
        Cells that do not wait for another; see `Serving`.
    running
        The request of the user's cell that runs now, if one does.

    Raises
    ------
    GateUnavailable
        On ipykernel 6.
    """

    def __init__(
        self,
        kernel: Any,
        owned: set[str],
        commands: dict[str, Command],
        running: Callable[[], Message | None],
    ) -> None:
        super().__init__(kernel, shell_of_reading_thread(kernel), commands)
        self._owned, self._running_cell = owned, running
        self._loop = reading_thread(kernel).io_loop
        self._needed = 0

    def open(self) -> None:
        """Somebody needs it from now on, until `close`. Any thread."""
        self._loop.add_callback(self._count, 1)

    def close(self) -> None:
        self._loop.add_callback(self._count, -1)

    def _count(self, more: int) -> None:
        """In the reading thread."""
        self._needed += more
        stream = self._shell.stream
        stands = stream._recv_callback == self._receive
        if self._needed and not stands:
            self._forward = stream._recv_callback
            stream.on_recv(self._receive, copy=False)
        elif stands and not self._needed:
            stream.on_recv(self._forward, copy=False)

    def _running(self) -> Message | None:
        return self._running_cell()

    def _action(self, kind: str, content: Message) -> Action | None:
        if kind in ("comm_msg", "comm_close") and content.get("comm_id", "") in self._owned:
            return self._comm_message if kind == "comm_msg" else self._comm_close
        if kind != "execute_request" or self._running() is None:
            return None
        command = self._command(content.get("code", "").strip())
        return None if command is None else lambda m, i: self._run_command(command, m, i)
