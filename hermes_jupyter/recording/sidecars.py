"""Files beside a notebook that hold the recordings which are too large for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hermes_jupyter.errors import RecordingError, StoreError
from hermes_jupyter.recording.encoding import MAX_BYTES
from tools.files.local_place import LOCAL
from tools.files.problems import Problem

FOLDER = "hermes-recordings"
MOST_FILES = 1_000
_NAME = re.compile(rf"{FOLDER}/[\w.-]{{1,100}}\.json")


@dataclass(frozen=True, slots=True)
class Sidecars:
    """The recordings that lie beside the notebooks of a folder."""

    folder: Path

    def write(self, turn: str, text: str) -> str:
        """Keep a recording; the file's name, seen from the folder.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        name = f"{FOLDER}/{turn}.json"
        path = self.folder / name
        try:
            path.parent.mkdir(exist_ok=True)
            LOCAL.write_bytes_atomic(str(path), f"{text}\n".encode(), 0o644)
        except (OSError, Problem) as error:
            raise StoreError(f"the recording cannot be written to {path}: {error}") from error
        return name

    def read(self, name: str) -> str:
        """The text of the file that a record names; a record may come from anywhere.

        Raises
        ------
        RecordingError
            If it is not there, too large, or not one of these files.
        """
        if not _NAME.fullmatch(name):
            raise RecordingError(f"{name!r:.120} is no file of recordings; they lie in {FOLDER}/")
        return text_of(self.folder / name)

    def paths(self) -> list[Path]:
        """All files, the oldest first."""
        try:
            found = [path for path in (self.folder / FOLDER).glob("*.json") if path.is_file()]
            return sorted(found, key=lambda path: path.stat().st_mtime)[-MOST_FILES:]
        except OSError:
            return []


def text_of(path: Path) -> str:
    """The text of a file of recordings.

    Raises
    ------
    RecordingError
        If it cannot be read, or is too large.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise RecordingError(f"{path} has {size:,} bytes, too many for a recording")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RecordingError(
            f"the recording {path} cannot be read ({error.strerror or error}); "
            "it belongs beside its notebook"
        ) from error
