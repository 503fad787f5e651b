"""Run code in the thread of the user's cells while none of them runs."""

from __future__ import annotations

import builtins
import contextvars
import getpass
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.kernel.parent import request_of
from hermes_jupyter.kernel.waiting import Waiting

NOBODY = "nobody can be asked for input here: the turn runs in the background"

Message = dict[str, Any]
Job = Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A job, and the request below which its output belongs."""

    job: Job
    parent: Message
    context: contextvars.Context = field(default_factory=contextvars.copy_context)


class FreeTime:
    """Of one shell. Jobs run one after the other: between two cells, or while one waits for a turn.

    In a terminal, where nothing runs while the prompt waits, they run after the next cell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._kernel: Any = getattr(shell, "kernel", None)
        self._loop = getattr(getattr(self._kernel, "io_loop", None), "asyncio_loop", None)
        self._jobs: deque[_Waiting] = deque()
        self._depth = 0
        self._request: Message | None = None
        shell.events.register("pre_run_cell", self._began)
        shell.events.register("post_run_cell", self._ended)

    @property
    def is_busy(self) -> bool:
        """Does a cell of the user run?"""
        return self._depth > 0

    def running(self) -> Message | None:
        """The request of the cell that runs, if one does."""
        return self._request if self._depth else None

    def post(self, job: Job, parent: Message) -> None:
        """Run a job as soon as may be; what it shows goes below ``parent``. Any thread."""
        self._jobs.append(_Waiting(job, parent))
        cell = Waiting.innermost
        if cell is not None:
            cell.call_soon(self._run_all)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._run_if_free)

    def close(self) -> None:
        self._shell.events.unregister("pre_run_cell", self._began)
        self._shell.events.unregister("post_run_cell", self._ended)
        self._jobs.clear()

    def _began(self, _info: Any) -> None:
        self._depth += 1
        if self._depth == 1 and self._kernel is not None:
            self._request = request_of(self._kernel)

    def _ended(self, _result: Any) -> None:
        self._depth = max(0, self._depth - 1)  # an empty cell ends without having begun
        if self._depth or not self._jobs:
            return
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._run_if_free)
        else:
            self._run_all()

    def _run_if_free(self) -> None:
        if not self._depth:
            self._run_all()

    def _run_all(self) -> None:
        while self._jobs:
            waiting = self._jobs.popleft()
            try:
                waiting.context.run(self._run, waiting)
            except KeyboardInterrupt:  # whoever waits for the job knows; no cell is to be ended
                continue

    def _run(self, waiting: _Waiting) -> None:
        shows = self._kernel is not None and not self._depth
        if shows:
            self._say("busy", waiting.parent)
        try:
            with self._below(waiting.parent), _nobody_is_asked():
                waiting.job()
        finally:
            if shows:
                self._say("idle", waiting.parent)

    @contextmanager
    def _below(self, parent: Message) -> Iterator[None]:
        """On ipykernel 6 the shell has one parent for all threads; on 7 it is in the context."""
        if self._kernel is None or getattr(self._kernel, "shell_channel_thread", None):
            yield
            return
        before = self._shell.get_parent()
        self._shell.set_parent(parent)
        try:
            yield
        finally:
            self._shell.set_parent(before)

    def _say(self, state: str, parent: Message) -> None:
        kernel = self._kernel
        kernel.session.send(
            kernel.iopub_socket,
            "status",
            {"execution_state": state},
            parent=parent,
            ident=kernel._topic("status"),
        )


@contextmanager
def _nobody_is_asked() -> Iterator[None]:
    """Have ``input()`` fail at once: no front end listens for it, and it would wait for ever."""

    def refuse(*_: Any, **__: Any) -> str:
        raise RuntimeError(NOBODY)

    before = builtins.input, getpass.getpass
    builtins.input, getpass.getpass = refuse, refuse
    try:
        yield
    finally:
        builtins.input, getpass.getpass = before
