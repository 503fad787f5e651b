"""The files of a place that has no Python, over a shell there.

The rules are those of everywhere: what is searched is chosen here, from one listing of the tree;
``grep`` there leaves out files in which nothing can match; the others are fetched and searched
here. Text in UTF-16 is not found.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import shlex
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace

from tools.environments.host import Host, HostError
from tools.files import reading
from tools.files.findings import Clock, Findings, Query
from tools.files.line import Line, Stop
from tools.files.patterns import compile_pattern, is_explosive
from tools.files.place import Entry, FileStatus, Kind
from tools.files.problems import Problem, shown
from tools.files.reading import Reading
from tools.files.searching import search_names
from tools.files.shell_search import search_there
from tools.files.text import HEAD_BYTES, is_binary

KINDS: dict[str, Kind] = {"f": "file", "d": "folder", "o": "other"}
WHOLE_BYTES = 4 << 20
"""Larger files are not fetched to be read line by line."""
MOST_LINES_BYTES = 32 << 20
WIDE_BOM = re.compile(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff")
WRITE_SECONDS = 120.0
REASONS = (
    ("no such file", errno.ENOENT), ("permission denied", errno.EACCES),
    ("no space left", errno.ENOSPC), ("quota exceeded", errno.EDQUOT),
    ("read-only file system", errno.EROFS), ("not permitted", errno.EPERM),
    ("is a directory", errno.EISDIR), ("not a directory", errno.ENOTDIR),
    ("not empty", errno.ENOTEMPTY), ("file exists", errno.EEXIST),
    ("name too long", errno.ENAMETOOLONG), ("filename too long", errno.ENAMETOOLONG),
    ("levels of symbolic links", errno.ELOOP), ("symbolic link loop", errno.ELOOP),
    ("file too large", errno.EFBIG), ("file size limit", errno.EFBIG),
)  # fmt: skip
WRITE = """\
LC_ALL=C; export LC_ALL
path=$1 size=$2 mode=$3 new=${1%/*}/.$4.tmp
if [ -d "$path" ]; then echo 'Is a directory' >&2; exit 1; fi
if [ -e "$path" ] && ! [ -f "$path" ]; then echo 'Not a regular file' >&2; exit 1; fi
owner=
if [ -f "$path" ]; then
  owner=$(stat -L -c %u:%g "$path")
  mode=${mode:-$(stat -L -c %a "$path")}
fi
[ -z "$mode" ] || umask 077
trap 'rm -f "$new"' EXIT
dd of="$new" bs=65536 conv=fsync || exit 1
if [ "$(wc -c <"$new")" -ne "$size" ]; then echo 'cut short' >&2; exit 1; fi
[ -z "$owner" ] || chown "$owner" "$new" 2>/dev/null
[ -z "$mode" ] || chmod "$mode" "$new" || exit 1
mv -f "$new" "$path"
"""
"""Writes what it is given; whatever ends it early leaves the old file."""


class ShellPlace:
    """For one question, over a line that it has for itself."""

    name = "shell"
    most_bytes = 64 << 20

    def __init__(self, line: Line, host: Host, stop: Stop) -> None:
        self._line, self._host, self._stop = line, host, stop

    def home(self) -> str:
        return self.real(self._homes()[0])

    def temporary(self) -> str:
        return self.real(self._homes()[1])

    def expand(self, path: str) -> str:
        name, slash, rest = path.partition("/")
        if name == "~":
            return self._homes()[0] + slash + rest
        if not re.fullmatch(r"~[\w.-]+", name, re.ASCII):
            return path
        home = self.command(f"printf '%s\\0' {name}").split(b"\0")[0]
        return os.fsdecode(home) + slash + rest

    def real(self, path: str) -> str:
        found, rest = self._texts("files_real", path)
        return posixpath.normpath((found or "/") + rest)

    def stat(self, path: str) -> FileStatus | None:
        try:
            mode, size = self._call("files_stat", path).split()
        except FileNotFoundError:
            return None
        number = int(mode, 16)
        return FileStatus(_kind(number), int(size), stat.S_IMODE(number))

    def iterdir(self, path: str) -> list[Entry]:
        entries = (each.partition("/") for each in self._texts("files_list", path))
        found = [Entry(name, KINDS[kind[0]], "l" in kind) for kind, _, name in entries]
        return sorted(found, key=lambda entry: entry.name)

    def read_bytes(self, path: str) -> bytes:
        return self._call("files_read", path)

    def chunks(self, path: str) -> Iterator[bytes]:
        yield self.read_bytes(path)

    def read_lines(self, path: str, first: int, count: int, stopped: Callable[[], bool]) -> Reading:
        status = self.stat(path)
        if status is None or status.size <= WHOLE_BYTES or self._needs_all(path, status):
            return reading.read_lines(self.chunks(path), path, first, count, stopped)
        asked = map(str, (first, count, MOST_LINES_BYTES))
        told, _, lines = self._call("files_lines", path, *asked).partition(b"\n")
        line_feeds, ended = map(int, told.split())
        head = self.command(f"head -c {HEAD_BYTES} {shlex.quote(path)}")
        found = reading.read_lines([lines], path, 1, count, stopped)
        if found.page is None or is_binary(head):
            return Reading(head[: reading.SHOWN_HEAD_BYTES], None)
        total = line_feeds + 1 - ended
        more = total >= first + len(found.page.lines) and bool(found.page.lines)
        return Reading(b"", replace(found.page, total=total, more=more))

    def write_bytes_atomic(self, path: str, content: bytes, mode: int | None = None) -> None:
        unique = os.urandom(8).hex()
        asked = [path, str(len(content)), "" if mode is None else f"{mode:o}", unique]
        argv = ["/bin/sh", "-c", WRITE, "sh", *asked]
        try:
            done = self._host.run(argv, stdin=content, timeout=WRITE_SECONDS)
        except HostError as error:
            raise ConnectionError(str(error)) from error
        if done.exit_code:
            raise error_of(done.err.decode("utf-8", "replace"), path)

    def make_folders(self, path: str) -> list[str]:
        missing = int(self._call("files_make_folders", path))
        made = [path]
        while len(made) < missing:
            made.append(posixpath.dirname(made[-1]))
        return made[:missing][::-1]

    def remove(self, path: str) -> None:
        self._call("files_remove", path)

    def remove_folder(self, path: str) -> None:
        self.command(f"rmdir {shlex.quote(path)}", path)

    def search_names(self, query: Query, clock: Clock) -> Findings:
        return search_there(self, self._host, query, clock).names(search_names)

    def search_contents(self, query: Query, flags: int, clock: Clock) -> Findings:
        if is_explosive(query.pattern):
            raise Problem(
                "This pattern may run for ever, and without Python there it cannot be stopped; "
                "use one without repeats inside of repeats"
            )
        pattern = compile_pattern(query.pattern, flags)
        return search_there(self, self._host, query, clock).contents(pattern)

    def command(self, text: str, about: str = "") -> bytes:
        """What a command of ours prints.

        Raises
        ------
        OSError
            If it fails; ``about`` is the path to name then.
        """
        said = self._line.run(text, stop=self._stop)
        if said.exit_code:
            raise error_of(said.err, about)
        return said.out

    def _call(self, function: str, path: str, *more: str) -> bytes:
        words = [function, *map(shlex.quote, (path, *more))]
        return self.command(" ".join(words), path)

    def _texts(self, function: str, path: str) -> list[str]:
        return [os.fsdecode(each) for each in self._call(function, path).split(b"\0")[:-1]]

    def _homes(self) -> list[str]:
        return self._texts("files_home", "")

    def _needs_all(self, path: str, status: FileStatus) -> bool:
        """Whether lines cannot be told from outside, and the file may be fetched."""
        if status.kind != "file":
            return True  # fetching says what is wrong
        head = self.command(f"head -c 4 {shlex.quote(path)}", path)
        if not (path.endswith(".ipynb") or WIDE_BOM.match(head)):
            return False
        return status.size <= self.most_bytes


def error_of(said: str, path: str) -> OSError | Problem:
    """The error that a program has printed."""
    folded = said.lower()
    if "not a regular file" in folded:
        return Problem(f"Not a regular file: {shown(path)}")
    number = next((number for words, number in REASONS if words in folded), errno.EIO)
    last = next(filter(_is_telling, reversed(said.strip().split("\n"))), "it failed")
    return OSError(number, os.strerror(number) if number != errno.EIO else last, path or None)


def _is_telling(line: str) -> bool:
    """Not the counts that ``dd`` prints whatever happens."""
    return not re.match(r"\d+\+\d+ records|\d+ bytes", line)


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"
