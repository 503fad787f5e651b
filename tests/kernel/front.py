"""A front end made of Python: it speaks the wire protocol of a real kernel.

It sends cells, comm messages (clicks), control messages and interrupts while a cell is busy,
and keeps everything that the kernel publishes.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from jupyter_core.utils import ensure_event_loop

Message = dict[str, Any]
READING_SECONDS = 0.2
"""What comes faster was typed before the person could read the question."""
LOOK_AGAIN_SECONDS = 0.1


class Front:
    """One kernel and what it has said so far."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.published: list[Message] = []
        self.replies: dict[str, Message] = {}
        self.reply_order: list[str] = []
        self.input_requests: list[Message] = []
        self._changed = threading.Condition()
        self._open = True
        self._threads = [
            threading.Thread(target=self._listen, args=pair, daemon=True)
            for pair in (
                (client.get_iopub_msg, self.published.append),
                (client.get_shell_msg, self._on_reply),
                (client.get_control_msg, self._on_reply),
                (client.get_stdin_msg, self.input_requests.append),
            )
        ]
        for thread in self._threads:
            thread.start()

    def _listen(self, receive: Callable[..., Message], keep: Callable[[Message], None]) -> None:
        while self._open:
            try:
                message = receive(timeout=0.2)
            except queue.Empty:
                continue
            with self._changed:
                keep(message)
                self._changed.notify_all()
        ensure_event_loop().close()  # jupyter_client made one for this thread

    def _on_reply(self, message: Message) -> None:
        request = message["parent_header"].get("msg_id", "")
        self.replies[request] = message
        self.reply_order.append(request)

    def close(self) -> None:
        self._open = False
        for thread in self._threads:
            thread.join(2)

    def forget(self) -> None:
        """Begin with empty lists, for a new test."""
        with self._changed:
            for kept in (self.published, self.replies, self.reply_order, self.input_requests):
                kept.clear()

    # waiting

    def until(self, look: Callable[[], Any], what: str, timeout: float = 15.0) -> Any:
        """Wait until ``look()`` finds something, looking again after every message.

        It looks now and then without one, too: no message tells of a file.
        """
        end = time.monotonic() + timeout
        with self._changed:
            while not (found := look()):
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{what} did not come; last: {self.tail()}")
                self._changed.wait(min(left, LOOK_AGAIN_SECONDS))
        return found

    def reply(self, request: str, timeout: float = 20.0) -> Message:
        return self.until(lambda: self.replies.get(request), f"the reply to {request}", timeout)

    def status(self, request: str, timeout: float = 20.0) -> str:
        """How a cell ended: ``ok``, ``error`` or ``aborted``; after its output is complete."""
        content = self.reply(request, timeout)["content"]
        self.until_idle(request)
        return str(content["status"])

    def until_idle(self, request: str, timeout: float = 10.0) -> None:
        self.until(lambda: ("status", "idle") in self.states(request), "idle", timeout)

    def until_heard(self, timeout: float = 60.0) -> None:
        """Wait until a kernel that was started again is heard, not only answers."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            request = self.send("kernel_info_request", {})
            with suppress(TimeoutError):
                self.until_idle(request, 1.0)
                return
        raise TimeoutError("the new kernel is not heard")

    def states(self, request: str) -> list[tuple[str, str]]:
        return [
            ("status", m["content"]["execution_state"])
            for m in self.of(request)
            if m["msg_type"] == "status"
        ]

    # sending

    def execute(self, code: str, *, cell: str = "", metadata: Any = None, **options: Any) -> str:
        """Send a cell; ``cell`` is its id, as notebooks tell it, with its ``metadata``."""
        if not cell:
            return self.client.execute(code, **options)
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": True}
        message = self.client.session.msg("execute_request", {**content, **options})
        message["metadata"].update(metadata or {}, cellId=cell)
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def run(self, code: str, timeout: float = 30.0, **options: Any) -> str:
        """Run a cell to its end; its printed text."""
        request = self.execute(code, **options)
        content = self.reply(request, timeout)["content"]
        self.until_idle(request)
        if content["status"] != "ok":
            raise RuntimeError("\n".join(content.get("traceback", [content["status"]])))
        return self.text(request)

    def queue(self, code: str) -> str:
        """Send a cell behind the running turn; it has arrived when this returns."""
        request = self.execute(code)
        self.reply(self.send("kernel_info_request", {}))  # the turn answers, in order of arrival
        return request

    def fall_asleep(self, gate: Path) -> str:
        """A cell in which the main thread hears nothing until somebody writes to the gate."""
        os.mkfifo(gate)
        request = self.execute(f"print('asleep', flush=True)\nopen({str(gate)!r}).read()")
        self.until_text("asleep")
        return request

    def send(self, kind: str, content: Message, *, subshell: str | None = None) -> str:
        message = self.client.session.msg(kind, content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def comm(self, comm_id: str, data: Message, *, subshell: str | None = None) -> str:
        return self.send("comm_msg", {"comm_id": comm_id, "data": data}, subshell=subshell)

    def click(self, comm_id: str, *, subshell: str | None = None) -> str:
        event = {"method": "custom", "content": {"event": "click"}}
        return self.comm(comm_id, event, subshell=subshell)

    def control(self, kind: str, content: Message) -> Message:
        message = self.client.session.msg(kind, content)
        self.client.control_channel.send(message)
        return self.reply(message["header"]["msg_id"], 5)

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def answer(
        self, text: str, timeout: float = 15.0, *, reads_for: float = READING_SECONDS
    ) -> str:
        """Read the next prompt and type ``text``; the prompt."""
        self.until(lambda: self.input_requests, "a prompt", timeout)
        request = self.input_requests.pop(0)
        time.sleep(reads_for)
        self.client.input(text)
        return str(request["content"]["prompt"])

    # looking

    def of(self, request: str) -> list[Message]:
        return [m for m in self.published if m["parent_header"].get("msg_id") == request]

    def text(self, request: str | None = None) -> str:
        messages = self.published if request is None else self.of(request)
        return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")

    def stderr(self) -> str:
        return "".join(
            m["content"]["text"]
            for m in self.published
            if m["msg_type"] == "stream" and m["content"]["name"] == "stderr"
        )

    def until_text(self, wanted: str, timeout: float = 15.0) -> None:
        self.until(lambda: wanted in self.text(), f"text {wanted!r}", timeout)

    def bundles(self, request: str) -> list[Message]:
        """MIME bundles displayed below a cell, first display and updates in order."""
        kinds = ("display_data", "update_display_data")
        return [m["content"]["data"] for m in self.of(request) if m["msg_type"] in kinds]

    def record(self, request: str) -> Message:
        """The static bundle that a turn leaves."""
        mime = "application/vnd.hermes.turn+json"
        found = [bundle for bundle in self.bundles(request) if mime in bundle]
        if not found:
            raise AssertionError(f"no record below the cell: {self.bundles(request)}")
        return found[-1]

    def widgets(self, model: str, **state: Any) -> list[str]:
        """Ids of the comms opened for widgets of this model whose state has these values."""
        opened = (m["content"] for m in list(self.published) if m["msg_type"] == "comm_open")
        return [
            content["comm_id"]
            for content in opened
            if (first := content["data"].get("state", {})).get("_model_name") == model
            and all(first.get(key) == value for key, value in state.items())
        ]

    def until_widget(self, model: str, nth: int = 1, timeout: float = 15.0, **state: Any) -> str:
        what = f"widget {model} {state}"
        return self.until(lambda: self.widgets(model, **state)[nth - 1 : nth], what, timeout)[0]

    def until_shown(self, comm_id: str) -> None:
        """Wait until a widget is part of a displayed tree: no person clicks before."""

        def shown() -> bool:
            opened = [m for m in self.published if m["content"].get("comm_id") == comm_id]
            start = self.published.index(opened[0])
            return any(
                m["msg_type"] == "comm_msg"
                and m["content"]["data"].get("state", {}).get("children")
                for m in self.published[start:]
            )

        self.until(shown, f"widget {comm_id} on the page")

    def button(self, label: str, nth: int = 1) -> str:
        """The id of a button that a person can see."""
        comm_id = self.until_widget("ButtonModel", nth, description=label)
        self.until_shown(comm_id)
        return comm_id

    def show_widgets(self, nth: int = 1, *, subshell: str | None = None) -> str:
        """Behave as a page that displays widgets: answer the probe."""
        play = self.until_widget("PlayModel", nth)

        def asked() -> bool:
            return any(
                m["msg_type"] == "comm_msg"
                and m["content"]["comm_id"] == play
                and m["content"]["data"].get("state", {}).get("playing")
                for m in self.published
            )

        self.until(asked, "the probe's question")
        return self.comm(play, {"method": "update", "state": {"value": 1}}, subshell=subshell)

    def tail(self) -> str:
        return "; ".join(f"{m['msg_type']}: {str(m['content'])[:160]}" for m in self.published[-6:])


@contextmanager
def kernel(
    *, path: Path | None = None, env: dict[str, str] | None = None, cwd: Path, log: Path
) -> Iterator[Front]:
    """Start a kernel of this environment; ``path`` puts another ipykernel in front."""
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        language="python",
        display_name="under test",
    )
    settings = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1", **(env or {})}
    if path is not None:
        settings["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(path), settings.get("PYTHONPATH", "")])
        )
    with log.open("wb") as output:
        manager.start_kernel(env=settings, cwd=str(cwd), stdout=output, stderr=output)
        client = manager.blocking_client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            front = Front(manager, client)
            try:
                yield front
            finally:
                front.close()
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
            manager.cleanup_resources()
