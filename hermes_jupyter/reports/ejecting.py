"""``%hermes eject``: a turn as plain code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_jupyter.eject.code import FORMATS, as_cells, as_code
from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import Event
from hermes_jupyter.exports.turns import Conversation, ToldTurn
from hermes_jupyter.kernel.shell import current_kernel
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.reports.pages import page_of

LEAST_ID_CHARS = 4


def eject(magics: Any, words: Sequence[str]) -> None:
    """``eject [TURN] [FILE]``: a number or an id of a turn, the last one by default."""
    files = [word for word in words if Path(word).suffix in FORMATS]
    wanted = [word for word in words if word not in files]
    if len(files) > 1 or len(wanted) > 1:
        raise StoreError("%hermes eject takes one turn and one file, with .py or .ipynb")
    events, folder = _turn(magics.desktop.hermes, wanted[0] if wanted else "")
    if files:
        path = Path(files[0]).expanduser()
        _write(path, FORMATS[path.suffix](events, folder))
        print(f"Written to {path}. Nothing was run.")
        return
    page = page_of(magics)
    if page is not None:
        number = page.put(as_cells(events, folder))
        print(f"The turn stands in the {number} cells below; nothing was run.")
        return
    code = as_code(events, folder)
    if current_kernel() is None:
        print(code)
        return
    magics.shell.set_next_input(code, replace=False)
    print(
        "The code stands in the next cell; nothing was run. If none has come: "
        "%hermes eject FILE.ipynb"
    )


def _turn(hermes: Any, wanted: str) -> tuple[Sequence[Event], str]:
    """What happened in the turn, and the folder in which it began."""
    session = hermes.session()
    stored = hermes.conversations.stored
    about = stored.look_up(session.id)
    told = Conversation(about, stored.entries(about)).turns if about else []
    turns = [turn for turn in told if not turn.by_hand]
    if found := _chosen(turns, wanted):
        return found.events, about.folder
    recording = Shelf(hermes.settings.home).of_turn(wanted) if wanted else None
    if recording is not None:
        return recording.events, ""
    if not turns:
        raise StoreError("there is no turn yet in this conversation")
    raise StoreError(f"there is no turn {wanted!r} here; it has the turns 1 to {len(turns)}")


def _chosen(turns: Sequence[ToldTurn], wanted: str) -> ToldTurn | None:
    if not turns or not wanted:
        return turns[-1] if turns else None
    if wanted.isdecimal() and 1 <= int(wanted) <= len(turns):
        return turns[int(wanted) - 1]
    fitting = [turn for turn in turns if turn.started.turn.startswith(wanted)]
    return fitting[0] if len(wanted) >= LEAST_ID_CHARS and len(fitting) == 1 else None


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise StoreError(f"{path} is there already; choose another name") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
