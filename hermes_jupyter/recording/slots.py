"""Where recordings lie: what each is of, without reading all of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hermes_jupyter.errors import RecordingError
from hermes_jupyter.recording.encoding import of_json, of_text
from hermes_jupyter.recording.records import record_in
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.sidecars import Sidecars, text_of
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.views.record import MIME

logger = logging.getLogger(__name__)

MAX_NOTEBOOK_BYTES = 64 << 20
MOST_NOTEBOOKS = 50


@dataclass(frozen=True, slots=True)
class Slot:
    """A turn that was recorded, or at least has left a record."""

    prompt_sha256: str
    line: str
    cell: str
    load: Callable[[], Recording]
    """Raises a RecordingError if it is broken, or there is only the record."""
    is_recorded: bool = True
    turn: str = ""

    @classmethod
    def of(cls, recording: Recording) -> Slot:
        """The slot of a recording that is read already."""
        whole = recording
        about = whole.prompt_sha256, whole.line, whole.cell
        return cls(*about, lambda: whole, turn=whole.turn)


@dataclass(frozen=True, slots=True)
class Source:
    """Recordings that belong together, in their order."""

    name: str
    """For messages."""
    slots: tuple[Slot, ...]


def notebook_source(path: Path) -> Source:
    """The records in a notebook's file; a file that cannot be read has none."""
    return Source(path.name, tuple(_slots_in(path)))


def folder_source(folder: Path) -> Source:
    """The files of recordings beside the notebooks of a folder."""
    found = filter(None, map(_read, Sidecars(folder).paths()))
    return Source(f"{folder.name}/", _of_last_run(found))


def shelf_source(shelf: Shelf, prompt_sha256: str) -> Source:
    """What this machine has kept of a prompt."""
    return Source("this machine", _of_last_run(shelf.of_prompt(prompt_sha256)))


def file_source(path: Path) -> list[Source]:
    """The recordings in what a user names: a notebook, a recording, a folder of these.

    Raises
    ------
    RecordingError
        If there is nothing of this name.
    """
    if path.is_dir():
        loose = _of_last_run(filter(None, map(_read, path.glob("*.json"))))
        mine = Source(f"{path.name}/", loose)
        return [*map(notebook_source, notebooks_in(path)), folder_source(path), mine]
    if not path.is_file():
        raise RecordingError(f"there are no recordings at {path} (HERMES_RECORDINGS)")
    if path.suffix == ".ipynb":
        return [notebook_source(path), folder_source(path.parent)]
    return [Source(path.name, (Slot.of(of_text(text_of(path))),))]


def notebooks_in(folder: Path) -> list[Path]:
    """The notebooks of a folder, the newest first."""
    try:
        found = [path for path in folder.glob("*.ipynb") if path.is_file()]
        newest_first = sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return []
    return newest_first[:MOST_NOTEBOOKS]


def _slots_in(path: Path) -> Iterator[Slot]:
    for bundle in _bundles(path):
        record = record_in(bundle)
        if record is None:
            continue
        recording = record.get("recording")
        load = partial(_load, recording, Sidecars(path.parent), path.name)
        about = record["prompt_sha256"], record["line"], record["cell"]
        yield Slot(*about, load, is_recorded=bool(recording), turn=record["turn"])


def _load(recording: Any, sidecars: Sidecars, notebook: str) -> Recording:
    if not recording:
        raise RecordingError(
            f"{notebook} shows a turn for this prompt, but it was not recorded; run the cell once "
            "with --record"
        )
    if "events" in recording:
        return of_json(recording)
    text = sidecars.read(recording["file"])
    whole = of_text(text)
    if json.loads(text)["sha256"] != recording["sha256"]:
        raise RecordingError(f"{recording['file']} is not the recording that {notebook} names")
    return whole


def _bundles(path: Path) -> Iterator[dict[str, Any]]:
    """What the outputs of a notebook hold, cell by cell."""
    try:
        if path.stat().st_size > MAX_NOTEBOOK_BYTES:
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        notebook = json.loads(text) if MIME in text else {}
    except (OSError, ValueError, RecursionError):
        logger.debug("the notebook %s cannot be read", path, exc_info=True)
        return
    for cell in _list(notebook, "cells"):
        for output in _list(cell, "outputs"):
            data = output.get("data") if isinstance(output, dict) else None
            if isinstance(data, dict):
                yield data


def _list(holder: Any, name: str) -> list[Any]:
    found = holder.get(name) if isinstance(holder, dict) else None
    return found if isinstance(found, list) else []


def _of_last_run(found: Iterable[Recording]) -> tuple[Slot, ...]:
    """Recordings without the order of a notebook: of each prompt those of its last conversation.

    Of a cell that was asked several times only the last one.
    """
    by_time = sorted(found, key=lambda recording: recording.at)
    last = {recording.prompt_sha256: recording.session_id for recording in by_time}
    kept: dict[tuple[str, str], Recording] = {}
    for each in by_time:
        if last[each.prompt_sha256] == each.session_id:
            kept[each.cell or each.turn, each.prompt_sha256] = each
    return tuple(map(Slot.of, kept.values()))


def _read(path: Path) -> Recording | None:
    try:
        return of_text(text_of(path))
    except RecordingError:
        logger.debug("%s cannot be read as a recording", path, exc_info=True)
        return None
