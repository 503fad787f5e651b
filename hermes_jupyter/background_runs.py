"""Starts turns behind their cells, and lets them be heard until they have ended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait
from contextvars import copy_context
from typing import Any, TypeVar

from hermes_jupyter.kernel import ran_cells
from hermes_jupyter.kernel.displaying import PARENT, ByContext, needs_help
from hermes_jupyter.kernel.runner import Run, start
from hermes_jupyter.kernel.serving import Command
from hermes_jupyter.kernel.shell import GateUnavailable, current_kernel
from hermes_jupyter.kernel.side_door import SideDoor
from hermes_jupyter.prepared import Prepared

T = TypeVar("T")


class BackgroundRuns:
    """Of one kernel.

    Parameters
    ----------
    owned
        Ids of the comms of turns; read live.
    commands
        What is answered at once although a cell keeps the kernel busy.
    """

    def __init__(self, owned: set[str], commands: Callable[[], dict[str, Command]]) -> None:
        self._owned, self._commands = owned, commands
        self._runs: list[Run[Any]] = []
        self._door: SideDoor | None = None
        self._displays: ByContext | None = None

    def start(self, turn: Prepared[T]) -> Run[T]:
        """Start a turn and return; call it in the thread of its cell."""
        turn.__enter__()
        door = self._side_door()
        if door is not None:
            door.open()
        run = self._displaying_below(turn)
        self._runs = [*(each for each in self._runs if not each.future.done()), run]

        def ended(_: object) -> None:
            turn.__exit__()
            if door is not None:
                door.close()

        run.future.add_done_callback(ended)
        return run

    def close(self, within: float) -> None:
        """Wait for their end, not for longer than this."""
        wait([run.future for run in self._runs], timeout=within)
        if self._displays is not None:
            self._displays.close()
            self._displays = None

    def _displaying_below(self, turn: Prepared[T]) -> Run[T]:
        kernel = current_kernel()
        if not needs_help(kernel):
            return start(turn.main)
        if self._displays is None:
            self._displays = ByContext(kernel.shell)

        def started() -> Run[T]:
            PARENT.set(turn.cell.parent)
            return start(turn.main)

        return copy_context().run(started)

    def _side_door(self) -> SideDoor | None:
        ran = ran_cells.noted()
        if self._door is None and ran is not None:
            try:
                self._door = SideDoor(
                    current_kernel(), self._owned, self._commands(), ran.free.running
                )
            except GateUnavailable:
                return None
        return self._door
