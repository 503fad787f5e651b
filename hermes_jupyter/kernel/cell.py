"""The cell that started a turn: where its output goes and what may run in its thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable
from typing import Any, TypeVar

from hermes_jupyter.kernel.closed_comms import OWN
from hermes_jupyter.kernel.parent import request_of

T = TypeVar("T")
Post = Callable[[Callable[[], None]], Any]


class Cell:
    """What a turn needs of the cell that started it; usable from any thread.

    Parameters
    ----------
    kernel
        The running ipykernel, or None outside of one.
    owned
        The set of comm ids that a `ShellGate` serves; `own_comm` adds to it.
    """

    is_background = False
    """Has the cell returned, while the turn goes on?"""
    page_is_all = False
    """Is there a page that shows the outputs once, and no notebook that is saved?"""

    def __init__(self, kernel: Any, owned: set[str]) -> None:
        self._kernel = kernel
        self._owned = owned
        self._mine: set[str] = set()
        self.parent: dict[str, Any] = request_of(kernel)
        self._post: Post | None = None
        self.loop = _running_loop()
        """The loop that runs in the cell's thread; None in a terminal."""
        self.blocks_loop = False
        """Does the cell's thread wait without letting that loop run?"""
        self.page_is_new = False
        """Was a page (re)loaded since the cell started? It does not know the cell's display ids."""

    def page_came(self) -> None:
        self.page_is_new = True

    @property
    def id(self) -> str:
        """The id of the cell in its notebook; empty if the front end does not say."""
        return str(self.parent.get("metadata", {}).get("cellId") or "")

    @property
    def has_kernel(self) -> bool:
        return self._kernel is not None

    @property
    def allow_stdin(self) -> bool:
        """May a person be asked with ``input()``? Terminals always, kernels by request."""
        if self._kernel is None:
            return True
        return bool(self.parent.get("content", {}).get("allow_stdin", False))

    @property
    def client(self) -> str:
        """The front end's session id; empty outside of a kernel."""
        return str(self.parent.get("header", {}).get("session", ""))

    @property
    def waits(self) -> bool:
        """Does the cell's thread wait for the turn, so that jobs can run in it?"""
        return self._post is not None

    @property
    def asks_now(self) -> bool:
        """Can a person be asked right now in the cell's thread?"""
        return True

    @property
    def shares_loop(self) -> bool:
        """Does the loop in the cell's thread go on while the cell waits?"""
        waits = self.waits and not self.is_background
        return waits and self.loop is not None and not self.blocks_loop

    def serve(self, post: Post | None) -> None:
        """Say how a job reaches the cell's thread; None when it no longer waits."""
        self._post = post

    def own_comm(self, comm_id: str) -> None:
        """Let messages of this comm overtake the running cell. Call before the comm opens."""
        OWN.add(comm_id)
        self._mine.add(comm_id)
        self._owned.add(comm_id)

    def close(self) -> None:
        self._post = None
        self._owned -= self._mine

    def display(
        self,
        bundle: dict[str, Any],
        *,
        metadata: dict[str, Any] | None = None,
        display_id: str | None = None,
        update: bool = False,
        parent: dict[str, Any] | None = None,
    ) -> None:
        """Publish a bundle below this cell (or below the request ``parent``), at any later time.

        An explicit parent reaches the right cell on every ipykernel and from every thread.
        """
        if self._kernel is None:
            return
        kind = "update_display_data" if update else "display_data"
        transient = {"display_id": display_id} if display_id else {}
        self._kernel.session.send(
            self._kernel.iopub_socket,
            kind,
            {"data": bundle, "metadata": metadata or {}, "transient": transient},
            parent=parent or self.parent,
            ident=self._kernel._topic(kind),
        )

    async def in_cell_thread(self, job: Callable[..., T], *args: Any) -> T:
        """Run ``job(*args)`` in the thread that runs the cell: user code, GUIs.

        Raises
        ------
        RuntimeError
            If no cell waits, as after the end of the turn.
        """
        if self._post is None:
            raise RuntimeError("no cell is waiting in whose thread it could run")
        outcome: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            if not outcome.set_running_or_notify_cancel():
                return
            try:
                outcome.set_result(job(*args))
            except KeyboardInterrupt:
                outcome.set_exception(InterruptedError("interrupted"))
                raise  # the thread that waits for the turn cancels it
            except SystemExit as error:
                # Raised in a task it would end the agent loop, and in the cell the kernel.
                outcome.set_exception(RuntimeError(f"the code called exit({error.code!r})"))
            except Exception as error:  # noqa: BLE001 - belongs to whoever awaits the job
                outcome.set_exception(error)

        self._post(run)
        return await asyncio.wrap_future(outcome)

    async def in_attended_thread(self, job: Callable[..., T], *args: Any) -> T:
        """The same for a job that asks a person with ``input()``."""
        return await self.in_cell_thread(job, *args)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
