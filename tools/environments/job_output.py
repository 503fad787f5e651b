"""The output of a job in files: written by whoever holds its pipe, read by everybody else.

A file ``out.N`` begins with byte N of all that was ever printed. The oldest are removed when there
are enough; ``first`` then says what is missing. Imports little, for the keeper starts with it.
"""

from __future__ import annotations

import os

KEPT_BYTES = 1_000_000
FILE_BYTES = 262_144
PREFIX = "out."


class Ring:
    """Appends to the output of a job, and keeps the last bytes of it."""

    def __init__(self, folder: str, kept: int = KEPT_BYTES, file_bytes: int = FILE_BYTES) -> None:
        self._folder, self._kept, self._file_bytes = folder, kept, file_bytes
        self.total = 0
        self._bases: list[int] = []
        self._lines: list[int] = []
        """Line breaks in each file."""
        self._lines_before = 0
        self._file: int | None = None

    def add(self, data: bytes) -> None:
        """Append. What the disk has no room for is counted, and missing."""
        try:
            if self._file is None or self.total - self._bases[-1] >= self._file_bytes:
                self._begin_file()
            assert self._file is not None
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            self.close()  # what comes next begins a file of its own, behind the gap
        self.total += len(data)
        if self._lines:
            self._lines[-1] += data.count(b"\n")

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _begin_file(self) -> None:
        self.close()
        path = f"{self._folder}/{PREFIX}{self.total}"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._bases.append(self.total)
        self._lines.append(0)
        while len(self._bases) > 1 and self.total - self._bases[1] >= self._kept:
            self._lines_before += self._lines.pop(0)
            oldest = self._bases.pop(0)
            write_whole(self._folder, "first", f"{self._bases[0]} {self._lines_before}\n")
            os.unlink(f"{self._folder}/{PREFIX}{oldest}")  # noqa: PTH108


def write_whole(folder: str, name: str, text: str) -> None:
    """Write a small file by renaming, so that nobody reads half of it."""
    path = f"{folder}/{name}"
    with open(f"{path}.new", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    os.replace(f"{path}.new", path)  # noqa: PTH105


def read_part(folder: str, offset: int, limit: int) -> tuple[bytes, int, int, int, int]:
    """A part of the output: data, its start, total, oldest byte kept, line breaks before that.

    A negative offset counts from the end.
    """
    for _ in range(5):  # files may be removed while we look
        bases = _bases(folder)
        if not bases:
            return b"", 0, 0, 0, 0
        try:
            last = os.stat(f"{folder}/{PREFIX}{bases[-1]}").st_size  # noqa: PTH116
            total = bases[-1] + last
            first, lines = _first(folder)
            start = min(max(offset if offset >= 0 else total + offset, first), total)
            data, start = _bytes(folder, bases, start, limit)
        except FileNotFoundError:
            continue
        return data, start, total, first, lines
    raise OSError("its output is written faster than it can be read")


def _bases(folder: str) -> list[int]:
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        return []
    numbers = [name[len(PREFIX) :] for name in names if name.startswith(PREFIX)]
    return sorted(int(number) for number in numbers if number.isdecimal())


def _first(folder: str) -> tuple[int, int]:
    try:
        with open(f"{folder}/first", encoding="utf-8") as file:  # noqa: PTH123
            first, lines = file.read().split()
    except FileNotFoundError:
        return 0, 0
    return int(first), int(lines)


def _bytes(folder: str, bases: list[int], start: int, limit: int) -> tuple[bytes, int]:
    """What is there from ``start`` on up to the next gap, and where that begins."""
    pieces: list[bytes] = []
    at, left = start, limit
    for base in bases:
        with open(f"{folder}/{PREFIX}{base}", "rb", buffering=0) as file:  # noqa: PTH123
            if not pieces and base > at:  # the disk was full here
                start = at = base
            if base > at or left <= 0:
                break
            file.seek(at - base)
            while left > 0 and (piece := file.read(left)):
                pieces.append(piece)
                at, left = at + len(piece), left - len(piece)
    return b"".join(pieces), start
