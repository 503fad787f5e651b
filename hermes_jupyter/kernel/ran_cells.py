"""The cells that this kernel has run since the extension is there."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.kernel.free_time import FreeTime
from hermes_jupyter.kernel.own_outputs import OwnOutputs
from hermes_jupyter.kernel.pages import Pages
from hermes_jupyter.kernel.parent import request_of

MAX_CELLS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class RanCell:
    """A cell as it ran last."""

    id: str
    """Of the cell in its notebook; empty if the front end does not say."""
    request: str
    number: int
    source: str
    at: float
    """When it ended, in seconds since the epoch."""
    error: str = ""
    """One line; empty if it did not fail."""
    outputs: Sequence[Mapping[str, Any]] | None = None
    """What it put out, if an agent ran it; then the request was another cell's."""


class RanCells:
    """Notes what runs in a shell; `close` ends that."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: deque[RanCell] = deque(maxlen=MAX_CELLS)
        kernel = getattr(shell, "kernel", None)
        self._outputs = OwnOutputs(kernel) if hasattr(kernel, "parent") else None
        self._runs = False
        there = hasattr(kernel, "comm_manager")
        self.pages = Pages(kernel, self._is_deaf) if there else None
        """Where this kernel's notebooks are open."""
        shell.events.register("pre_run_cell", self._begin)
        self.free = FreeTime(shell)
        """When the thread that runs them has nothing to do."""
        shell.events.register("post_run_cell", self._note)

    def all(self) -> list[RanCell]:
        """In the order in which they ran."""
        return list(self._cells)

    def offer(self, source: str) -> None:
        """Have a new cell appear below the one that runs, when it has ended."""
        self._shell.set_next_input(source)

    @property
    def can_offer(self) -> bool:
        """Does the front end do that? A terminal with a simple prompt does not."""
        return not getattr(self._shell, "simple_prompt", False)

    @property
    def namespace(self) -> dict[str, Any]:
        """The user's variables."""
        return self._shell.user_ns  # type: ignore[no-any-return]

    @property
    def notebook(self) -> str:
        """The path of the notebook where only the front end's own variable says it (VS Code)."""
        return str(self._shell.user_ns.get("__vsc_ipynb_file__") or "")

    def outputs(self, cell: RanCell) -> list[dict[str, Any]]:
        """What it put out, as a notebook file has it; empty if nobody knows."""
        if cell.outputs is not None:
            return [dict(each) for each in cell.outputs]
        if self._outputs is not None:
            return self._outputs.of(cell.request)
        return _of_terminal(self._shell, cell.number)

    def add(
        self, cell: str, number: int, source: str, error: str, outputs: Sequence[Mapping[str, Any]]
    ) -> None:
        """An agent has run this cell."""
        ran = RanCell(
            id=cell, request="", number=number, source=source, at=time.time(), error=error,
            outputs=outputs,
        )  # fmt: skip
        self._cells.append(ran)

    def close(self) -> None:
        self._shell.events.unregister("pre_run_cell", self._begin)
        self._shell.events.unregister("post_run_cell", self._note)
        self.free.close()
        if self._outputs is not None:
            self._outputs.close()
        if self.pages is not None:
            self.pages.close()

    def _begin(self, _info: Any) -> None:
        self._runs = True

    def _is_deaf(self) -> bool:
        """Does a cell run, and no turn in it that hears what comes?"""
        waits = sys.modules.get("hermes_jupyter.kernel.waiting")  # where it is not, no turn has run
        return self._runs and (waits is None or waits.Waiting.innermost is None)

    def _note(self, result: Any) -> None:
        self._runs = False
        info = result.info
        if not getattr(info, "store_history", False):
            return
        error = result.error_before_exec or result.error_in_exec
        self._cells.append(
            RanCell(
                id=getattr(info, "cell_id", None) or "",
                request=_request(self._shell),
                number=result.execution_count or 0,
                source=info.raw_cell,
                at=time.time(),
                error=_line(error) if error is not None else "",
            )
        )


class _Process:
    """Holds what is noted in this process."""

    cells: RanCells | None = None


def begin(shell: Any) -> None:
    """Note from now on what runs in this shell."""
    end()
    _Process.cells = RanCells(shell)


def end() -> None:
    """Note nothing any more, and forget."""
    if _Process.cells is not None:
        _Process.cells.close()
        _Process.cells = None


def noted() -> RanCells | None:
    """The cells of this process; None outside of a notebook."""
    return _Process.cells


def _of_terminal(shell: Any, number: int) -> list[dict[str, Any]]:
    """What IPython 9 keeps itself, where it is not a kernel."""
    kept = getattr(shell.history_manager, "outputs", {}).get(number, ())
    streams = {"out_stream": "stdout", "err_stream": "stderr"}
    return [
        {
            "output_type": "stream",
            "name": streams[each.output_type],
            "text": "".join(each.bundle.get("stream", ())),
        }
        if each.output_type in streams
        else {"output_type": "display_data", "data": each.bundle}
        for each in kept
    ]


def _request(shell: Any) -> str:
    return str(request_of(getattr(shell, "kernel", None)).get("header", {}).get("msg_id", ""))


def _line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the user's own class may do anything
        text = ""
    return f"{type(error).__name__}: {text}"[:500].rstrip(": ")
