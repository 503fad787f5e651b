"""The cells of a turn: through its page as soon as there is one, without it until then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tools.cells import Cell, CellKind, CellRun, NotebookCells, Recorder, Spot


class TurnCells:
    """The best way there is at each call. A page that was found once stays the turn's own.

    Parameters
    ----------
    without
        The way without a page.
    paged
        The way through the page in which the turn's cell runs; None while there is none.
    """

    def __init__(self, without: NotebookCells, paged: Callable[[], NotebookCells | None]) -> None:
        self._without, self._look = without, paged
        self._page = paged()
        self._recorder: Recorder | None = None
        self.judged: dict[str, str] = {}

    @property
    def can_edit(self) -> bool:
        return self._now.can_edit

    @property
    def can_insert(self) -> str:
        return self._now.can_insert

    @property
    def names(self) -> Mapping[str, str]:
        return self._now.names

    @property
    def _now(self) -> NotebookCells:
        if self._page is None and (page := self._look()) is not None:
            self._page = page
            if self._recorder is not None:
                page.tell(self._recorder)
        return self._page or self._without

    def tell(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._now.tell(recorder)

    def read(self) -> Sequence[Cell]:
        return self._now.read()

    def insert(self, source: str, kind: CellKind, spot: Spot | None) -> Cell | None:
        return self._now.insert(source, kind, spot)

    def edit(self, cell: str, source: str, was: str) -> Cell:
        return self._now.edit(cell, source, was)

    def move(self, cell: str, spot: Spot) -> Sequence[Cell]:
        return self._now.move(cell, spot)

    def delete(self, cells: Mapping[str, str]) -> Sequence[Cell]:
        return self._now.delete(cells)

    def show(self, cell: str, run: CellRun) -> None:
        self._now.show(cell, run)
