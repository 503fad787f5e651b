"""What turns do to cells, and the way back through the page that shows the notebook then."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import PurePath
from typing import Any

from hermes_jupyter.notebook.log import CellLog
from hermes_jupyter.notebook.paged import Asks
from hermes_jupyter.notebook.putting import Putting, lacks_output, problem_of
from hermes_jupyter.notebook.states import CellChange, snapshot_of
from hermes_jupyter.undoable import Item
from tools.cells import KIND, CellProblem

MOST_TURNS = 20
BESIDE = ("was_above", "was_below", "is_above", "is_below")
Find = Callable[[str, str], Asks | None]


class Cells:
    """An `Undoable`: the cells of notebooks. What it needs is stored, so a later kernel can.

    Parameters
    ----------
    find
        The page that shows the notebook of this path, or one that has a cell of this id; None
        if no page does. May wait for one that is just opening.
    """

    kind = KIND

    def __init__(self, find: Find) -> None:
        self._find = find
        self._lock = threading.RLock()  # guards the next one
        self._logs: OrderedDict[str, CellLog] = OrderedDict()
        self._names: dict[str, str] = {}
        """Ids of cells that came back under another one."""

    def begin(self, turn: str, tool: str) -> None:
        """See `Undoable`. Tools say what they change, as they do it."""

    def note(self, turn: str, change: CellChange) -> list[Item]:
        """See `Told`."""
        with self._lock:
            log = self._logs.setdefault(turn, CellLog())
            while len(self._logs) > MOST_TURNS:
                self._logs.popitem(last=False)
            log.add(change)
            return log.items()

    def end(self, turn: str) -> list[Item]:
        """See `Undoable`."""
        with self._lock:
            log = self._logs.pop(turn, None)
            return log.items() if log is not None else []

    def plan(self, turn: str, items: list[Item], *, force: bool) -> list[Item]:
        """See `Undoable`. Cells that are as they were before the turn are left out."""
        planned: list[Item] = []
        for (notebook, anchor), group in _by_notebook([*map(self._as_named_now, items)]):
            try:
                page = self._page(notebook, anchor)
                there = snapshot_of(page("read", outputs=False), outputs=False)
            except (CellProblem, ConnectionError) as problem:
                planned += [replace(item, problem=str(problem)) for item in group]
                continue
            for item in group:
                problem_now = problem_of(item, there, force=force)
                if problem_now is not None:
                    name = f"{item.name} (without its output)" if lacks_output(item) else item.name
                    planned.append(replace(item, name=name, problem=problem_now))
        return planned

    def undo(self, turn: str, items: list[Item], by: str, *, force: bool) -> list[Item]:
        """See `Undoable`."""
        planned = self.plan(turn, items, force=force)
        problems = [item for item in planned if item.problem]
        log = CellLog()
        for (notebook, anchor), group in _by_notebook([i for i in planned if not i.problem]):
            try:
                putting = Putting(self._page(notebook, anchor), anchor, by)
                problems += putting.put(group)
                for change in putting.changes():
                    log.add(change)
                self._names |= putting.names
            except (CellProblem, ConnectionError) as problem:
                problems += [replace(item, problem=str(problem)) for item in group]
        return [*log.items(), *problems]

    def _as_named_now(self, item: Item) -> Item:
        def now(name: str) -> str:
            while name in self._names:
                name = self._names[name]
            return name

        others = {key: [*map(now, item.kept[key])] for key in BESIDE}
        return replace(item, kept={**item.kept, "cell": now(item.kept["cell"]), **others})

    def _page(self, notebook: str, anchor: str) -> Asks:
        page = self._find(notebook, anchor)
        if page is None:
            name = PurePath(notebook).name or "its notebook"
            raise CellProblem(f"{name} is not open with this kernel; open it and undo again")
        return page


def _by_notebook(items: list[Item]) -> list[tuple[tuple[str, str], list[Item]]]:
    def where(item: Item) -> tuple[str, str]:
        kept: Mapping[str, Any] = item.kept
        return str(kept.get("notebook", "")), str(kept.get("anchor", ""))

    return [(key, [*group]) for key, group in groupby(sorted(items, key=where), key=where)]
