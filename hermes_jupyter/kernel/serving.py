"""Answer messages of the kernel's shell at once, although a cell keeps the kernel busy."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable
from typing import Any

from hermes_jupyter.kernel.shell import Shell

logger = logging.getLogger(__name__)

BUSY_SECONDS = 1.0

Message = dict[str, Any]
Command = Callable[[Message], object]
"""Answers a cell; a text that it returns is printed below it."""
Action = Callable[[Message, Any], None]


class Serving:
    """Reads what comes to a shell, answers what is ours, and passes on all else as it came.

    Parameters
    ----------
    kernel
        The running ipykernel.
    shell
        Whose messages they are; read in the thread that owns its stream.
    commands
        Texts of whole cells that are answered at once, and what to do for them. ``%hermes say ...``
        stands for all that begin so, and have one line.
    """

    def __init__(self, kernel: Any, shell: Shell, commands: dict[str, Command]) -> None:
        self._kernel, self._shell, self._commands = kernel, shell, commands
        self._said_busy = time.monotonic()
        self._forward: Callable[..., Any] | None = None

    def _action(self, kind: str, content: Message) -> Action | None:
        """What to do at once for such a message; None leaves it to ipykernel."""
        raise NotImplementedError

    def _running(self) -> Message | None:
        """The request that runs, if one does."""
        raise NotImplementedError

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
            if (cell := self._running()) is not None:
                self._said_busy = time.monotonic()
                self._status("busy", cell)  # and the cell still runs
        return True

    def _stay_busy(self) -> None:
        """Say once a second that the kernel is busy.

        A page makes subshells for its widgets over the control channel, whose answer ends in
        *idle*, and would show the kernel so for the rest of the turn.
        """
        cell = self._running()
        if cell is not None and time.monotonic() - self._said_busy > BUSY_SECONDS:
            self._said_busy = time.monotonic()
            self._status("busy", cell)

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
        if comm is not None and comm._msg_callback is not None:
            comm._msg_callback(message)

    def _comm_close(self, message: Message, idents: Any) -> None:
        """Close it, unless that is done: ipykernel would complain about that below the cell."""
        if message["content"].get("comm_id") in self._kernel.comm_manager.comms:
            self._hand_over(message, idents)

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
