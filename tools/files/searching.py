"""Search the contents or the names of files, with true totals and one page of hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath

from tools.files import globs
from tools.files.findings import Clock, Findings, Match, Query
from tools.files.notebook_text import notebook_text
from tools.files.paths import name_in
from tools.files.patterns import Hit, LinePattern
from tools.files.place import CHUNK_BYTES, Readable
from tools.files.problems import Problem
from tools.files.protected import secret_at, secret_in
from tools.files.text import HEAD_BYTES, decode, is_binary
from tools.files.walking import Found, Walk

MAX_FILE_BYTES = 64 << 20
MAX_LINE_CHARS = 500
MAX_PAGE_CHARS = 60_000
CONTEXT_LINE_CHARS = 300


def search_names(query: Query, files: Readable, clock: Clock) -> Findings:
    """Files whose name, or path below the root, fits the pattern."""
    fits = name_test(query.pattern.removeprefix(query.root.rstrip("/") + "/"))
    findings = Findings()
    for found in files_to_search(query, files, clock, findings):
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


def search_contents(query: Query, pattern: LinePattern, files: Readable, clock: Clock) -> Findings:
    """Lines that match the pattern."""
    findings = Findings()
    found = files_to_search(query, files, clock, findings)
    return search_in(found, query, pattern, files, clock, findings)


def search_in(
    found_files: Iterable[Found],
    query: Query,
    pattern: LinePattern,
    files: Readable,
    clock: Clock,
    findings: Findings,
) -> Findings:
    """The same in files that were found before; adds to the findings."""
    chars = 0
    home = files.home()
    shows_secrets = secret_at(query.root, home) is not None  # a person has agreed to it
    for found in found_files:
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


def files_to_search(
    query: Query, files: Readable, clock: Clock, findings: Findings
) -> Iterator[Found]:
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


def _text(found: Found, files: Readable, findings: Findings, home: str | None) -> str | None:
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


def _content(path: str, files: Readable) -> bytes | None:
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
