"""Figures of the agent's code: shown as a cell would show them, apart from those of the user.

While the code runs, pyplot knows none of the user's figures; afterwards it knows them again, and
its settings are as they were. Nothing is imported: who has no pyplot has no figures.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SHOWN_ELSEWHERE = ("qt", "tk", "gtk", "wx", "macosx", "nbagg", "ipympl", "widget", "webagg")
"""Backends that show a figure by themselves."""
INLINE = "inline"
KEPT_AS_IS = frozenset({"backend", "backend_fallback", "interactive"})
"""Settings that come with a backend."""

Show = Callable[[Any], None]


@contextmanager
def own_figures(show: Show) -> Iterator[None]:
    """Let the code in the block have its own figures; ``show`` gets those that it leaves."""
    library = _pyplot()
    if library is None:
        yield
        if (library := _pyplot()) is not None:
            _show_new(library, show)
        return
    matplotlib = sys.modules["matplotlib"]
    mine, interactive = _taken(library), _interactive(matplotlib)
    settings = dict(matplotlib.rcParams.items())
    try:
        yield
        _show_new(library, show)
    finally:
        _put_back(library, mine)
        if interactive is not None:
            matplotlib.interactive(interactive)
        _restore(matplotlib, settings)


def is_open(figure: Any) -> bool:
    """Is it one of pyplot's figures, which are shown at the end anyway?"""
    library = _pyplot()
    return library is not None and any(
        manager.canvas.figure is figure for manager in library.Gcf.figs.values()
    )


def _interactive(matplotlib: Any) -> bool | None:
    """Is pyplot interactive? None while no backend is loaded: that decides it for good."""
    backend = getattr(sys.modules.get("matplotlib.pyplot"), "_backend_mod", None)
    return bool(matplotlib.is_interactive()) if backend is not None else None


def _pyplot() -> Any:
    return sys.modules.get("matplotlib._pylab_helpers")


def _taken(library: Any) -> list[tuple[Any, Any]]:
    figures = list(library.Gcf.figs.items())
    library.Gcf.figs.clear()
    return figures


def _put_back(library: Any, figures: list[tuple[Any, Any]]) -> None:
    """The user's figures have their numbers and their order again, and are the active ones."""
    taken = {number for number, _ in figures}
    left = [(number, each) for number, each in library.Gcf.figs.items() if number not in taken]
    library.Gcf.figs.clear()
    library.Gcf.figs.update([*left, *figures])


def _restore(matplotlib: Any, settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if name not in KEPT_AS_IS and matplotlib.rcParams.get(name) != value:
            matplotlib.rcParams[name] = value


def _show_new(library: Any, show: Show) -> None:
    backend = str(sys.modules["matplotlib"].get_backend()).lower()
    if any(name in backend for name in SHOWN_ELSEWHERE):
        return
    for number, manager in list(library.Gcf.figs.items()):
        show(manager.canvas.figure)
        if INLINE in backend:  # so does a cell
            library.Gcf.destroy(number)
