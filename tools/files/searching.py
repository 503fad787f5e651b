"""Search the contents or the names of files, with true totals and one page of hits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from typing import Literal

from tools.files import globs
from tools.files.access import CHUNK_BYTES, FileAccess
from tools.files.notebook_text import notebook_text
from tools.files.patterns import Hit, LinePattern
from tools.files.problems import Problem
from tools.files.protected import home_of, secret_at, secret_in
from tools.files.text import HEAD_BYTES, decode, is_binary
from tools.files.walking import Found, Walk
from tools.files.workspace import name_in

MAX_FILE_BYTES = 64 << 20
MAX_LINE_CHARS = 500
MAX_PAGE_CHARS = 60_000
CONTEXT_LINE_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is searched for. ``folder`` is where paths in the answer begin."""

    pattern: str
    root: str
    folder: str
    file_glob: str = ""
    limit: int = 50
    offset: int = 0
    context: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """A line that matches."""

    path: str
    line: int
    content: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def as_result(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value or name == "content"}


@dataclass(frozen=True, slots=True)
class Clock:
    """When to stop, and why."""

    deadline: float
    cancelled: threading.Event | None = None

    def why_stopped(self) -> Literal["", "cancelled", "deadline"]:
        if self.cancelled is not None and self.cancelled.is_set():
            return "cancelled"
        return "deadline" if time.monotonic() > self.deadline else ""


@dataclass(slots=True)
class Findings:
    """What a search found. Totals are of everything; the lists are one page of it."""

    counts: dict[str, int] = field(default_factory=dict)
    """Matching lines of each file; for a search of names, 1."""
    matches: list[Match] = field(default_factory=list)
    stopped: str = ""
    """Why the totals are only "at least", if they are."""
    left_out: dict[str, int] = field(default_factory=dict)
    page_is_full: bool = False
    """The page ended early because it had grown too long."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def search_names(query: Query, files: FileAccess, clock: Clock) -> Findings:
    """Files whose name, or path below the root, fits the pattern."""
    fits = name_test(query.pattern.removeprefix(query.root.rstrip("/") + "/"))
    findings = Findings()
    for found in _files(query, files, clock, findings):
        if fits(found.relative):
            findings.counts[name_in(query.folder, found.path)] = 1
    return findings


def name_test(pattern: str) -> Callable[[str], bool]:
    """How a pattern is compared with paths: as globs, else as a part of the name, in any case."""
    if globs.is_glob(pattern):
        return lambda relative: globs.matches(pattern, relative)
    wanted = pattern.strip().removeprefix("./").rstrip("/").lower()
    if wanted in ("", "."):
        return lambda relative: True
    if "/" in wanted:
        return lambda relative: wanted in relative.lower()
    return lambda relative: wanted in relative.rpartition("/")[2].lower()


def search_contents(
    query: Query, pattern: LinePattern, files: FileAccess, clock: Clock
) -> Findings:
    """Lines that match the pattern."""
    findings = Findings()
    chars = 0
    home = home_of(files)
    shows_secrets = secret_at(query.root, home) is not None  # a person has agreed to it
    for found in _files(query, files, clock, findings):
        text = _text(found, files, findings, None if shows_secrets else home)
        if text is None:
            continue
        before, count = findings.total, 0
        lines: list[str] = []
        for hit in pattern.hits(text, lambda: bool(clock.why_stopped())):
            place = before + count
            count += 1
            if query.offset <= place < query.offset + query.limit and not findings.page_is_full:
                lines = lines or text.split("\n")
                match = _match(name_in(query.folder, found.path), lines, hit, query.context)
                chars += sum(map(len, (match.path, match.content, *match.before, *match.after)))
                findings.page_is_full = chars > MAX_PAGE_CHARS
                if not findings.page_is_full or not findings.matches:
                    findings.matches.append(match)
        if clock.why_stopped():
            findings.stopped = clock.why_stopped()
        if count:
            findings.counts[name_in(query.folder, found.path)] = count
    return findings


def _files(query: Query, files: FileAccess, clock: Clock, findings: Findings) -> Iterator[Found]:
    """The files to search; ends early, and says so, when the time is up."""
    status = files.stat(query.root)
    if status is not None and status.kind == "file":
        yield Found(query.root, PurePath(query.root).name)
        return
    walk = Walk(files)
    for found in walk.below(query.root):
        findings.stopped = clock.why_stopped()
        if findings.stopped:
            break
        if not query.file_glob or globs.matches(query.file_glob, found.relative):
            yield found
    findings.left_out.update(walk.summary())


def _text(found: Found, files: FileAccess, findings: Findings, home: str | None) -> str | None:
    """The text that `read_file` shows for a file, so that line numbers agree; None to skip it."""
    path = files.real(found.path) if found.is_link else found.path
    if home is not None and secret_in(path, home):
        _count(findings, "files_with_secrets")
        return None
    try:
        content = _content(path, files)
    except (OSError, Problem):
        _count(findings, "unreadable_files")
        return None
    if content is None:
        _count(findings, "files_too_large")
        return None
    if path.endswith(".ipynb"):
        cells = notebook_text(content)
        if cells is not None:
            return cells
    text = decode(content)
    return text.unified if text else None


def _content(path: str, files: FileAccess) -> bytes | None:
    """The file's bytes; None if there are too many, empty if a large one is of no text."""
    chunks, size = [], 0
    for chunk in files.chunks(path):
        if not size and len(chunk) == CHUNK_BYTES and is_binary(chunk[:HEAD_BYTES]):
            return b""
        chunks.append(chunk)
        size += len(chunk)
        if size > MAX_FILE_BYTES:
            return None
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _count(findings: Findings, kind: str) -> None:
    findings.left_out[kind] = findings.left_out.get(kind, 0) + 1


def _match(path: str, lines: list[str], hit: Hit, context: int) -> Match:
    before = lines[max(0, hit.line - context) : hit.line]
    after = lines[hit.line + 1 : hit.line + 1 + context]
    return Match(
        path,
        hit.line + 1,
        _around(lines[hit.line], hit.start, hit.end),
        tuple(line[:CONTEXT_LINE_CHARS] for line in before),
        tuple(line[:CONTEXT_LINE_CHARS] for line in after),
    )


def _around(line: str, start: int, end: int) -> str:
    """The line, or the part of a long one in which the match is, with marks where it was cut."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    room = max(0, MAX_LINE_CHARS - (min(end, len(line)) - start))
    begin = max(0, min(start - room // 2, len(line) - MAX_LINE_CHARS))
    stop = begin + MAX_LINE_CHARS
    return f"{'…' if begin else ''}{line[begin:stop]}{'…' if stop < len(line) else ''}"
