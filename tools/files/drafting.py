"""Work out what a patch does to files, before any file is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.files import v4a
from tools.files.changes import Change
from tools.files.matching import candidates, excerpt, find_block, find_similar, fold, rewritten
from tools.files.problems import Problem, shown
from tools.files.replacing import line_edit
from tools.files.text import Edit, Text, decode, edited, encode
from tools.files.workspace import Workspace, missing

MAX_BYTES = 64 << 20


@dataclass(slots=True)
class Draft:
    """The files as they would be. Later operations see what earlier ones did."""

    workspace: Workspace
    _before: dict[str, bytes | None] = field(default_factory=dict)
    _after: dict[str, bytes | None] = field(default_factory=dict)
    _modes: dict[str, int] = field(default_factory=dict)
    _moves: dict[str, str] = field(default_factory=dict)

    def content(self, path: str) -> bytes | None:
        """What the file holds so far; None if there is none."""
        if path not in self._after:
            self._before[path] = self._after[path] = self._read(path)
        return self._after[path]

    def text(self, path: str) -> Text:
        content = self.content(path)
        if content is None:
            raise missing(self.workspace, path)
        text = decode(content)
        if text is None:
            raise Problem(f"{shown(path)} is a binary file; patch changes text only")
        return text

    def put(self, path: str, content: bytes | None) -> None:
        self.content(path)
        self._after[path] = content

    def move(self, source: str, target: str) -> None:
        if self.content(target) is not None:
            raise Problem(f"Cannot move to {shown(target)}: that file exists already")
        self.put(target, self.content(source))
        self.put(source, None)
        self._moves[source] = target
        if source in self._modes:
            self._modes[target] = self._modes[source]

    def changes(self) -> list[Change]:
        """What differs; files that go come last, so that nothing is lost if a write fails."""
        origins = {target: source for source, target in self._moves.items()}
        found = [
            Change(
                path=path,
                before=self._before[path],
                after=after,
                mode=self._modes.get(path) if self._before[path] is None or after is None else None,
                moved_from=origins.get(path, ""),
                moved_to=self._moves.get(path, ""),
            )
            for path, after in self._after.items()
            if after != self._before[path]
        ]
        return sorted(found, key=lambda change: change.after is None)

    def _read(self, path: str) -> bytes | None:
        status = self.workspace.files.stat(path)
        if status is None:
            return None
        if status.kind != "file":
            what = "a folder" if status.kind == "folder" else "not a regular file"
            raise Problem(f"{shown(path)} is {what}")
        if status.size > min(MAX_BYTES, self.workspace.files.most_bytes):
            raise Problem(f"{shown(path)} is too large to patch ({status.size:,} bytes)")
        self._modes[path] = status.mode
        return self.workspace.files.read_bytes(path)


def draft_patch(patch: str, workspace: Workspace) -> Draft:
    """Apply a V4A patch to a draft."""
    draft = Draft(workspace)
    for operation in v4a.parse(patch):
        _apply(operation, draft)
    return draft


def _apply(operation: v4a.Operation, draft: Draft) -> None:
    workspace = draft.workspace
    if operation.action == "Add":
        path = workspace.path(operation.path)
        if draft.content(path) is not None:
            raise Problem(f"{shown(path)} exists already; use *** Update File to change it")
        draft.put(path, encode("".join(f"{line}\n" for line in operation.content), Text("")))
        return
    if operation.action == "Delete":
        path = workspace.place(operation.path)
        if draft.content(path) is None:
            raise missing(workspace, path)
        draft.put(path, None)
        return
    place = workspace.place if operation.target else workspace.path
    path = place(operation.path)
    original = draft.content(path)
    if original is None:
        raise missing(workspace, path)
    if operation.hunks:
        text = draft.text(path)
        draft.put(path, encode(_patched(text, operation, path), text))
    if operation.target:
        draft.move(path, workspace.path(operation.target))


def _patched(text: Text, operation: v4a.Operation, path: str) -> str:
    lines = text.unified.split("\n")
    if lines[-1] == "":
        lines.pop()
    edits: list[Edit] = []
    begin = 0
    for number, hunk in enumerate(operation.hunks, 1):
        try:
            start, block = _placed(lines, hunk, begin)
        except Problem as problem:
            named = f"{shown(path)}, hunk {number}: {problem}"
            raise Problem(named, **problem.extra) from None
        edits.append(_line_edit(text, lines, start, start + len(hunk.old), block))
        begin = start + len(hunk.old)
    return edited(text, edits)


def _line_edit(text: Text, lines: list[str], start: int, end: int, block: list[str]) -> Edit:
    """The edit, for a file that may or may not end in a line feed."""
    ended = text.text.endswith("\n")
    if lines and not ended and start == end == len(lines):
        whole = len(text.unified)
        return Edit(whole, whole, "".join(f"\n{line}" for line in block))
    return line_edit([*lines, ""] if ended or not lines else lines, start, end, block)


def _placed(lines: list[str], hunk: v4a.Hunk, begin: int) -> tuple[int, list[str]]:
    """Where a hunk goes, and the lines that it leaves there."""
    after, is_anchored = _below_anchors(lines, hunk.anchors, begin)
    if not hunk.old:
        if hunk.anchors and not is_anchored:
            raise Problem(f"several lines are {hunk.anchors[-1]!r:.200}; add a line that stays")
        return (after if hunk.anchors else len(lines)), hunk.new
    found = find_block(lines, hunk.old, after)
    if not found.starts and hunk.anchors:
        # The anchor may be the first line of the hunk's own lines.
        found = find_block(lines, hunk.old, max(begin, after - 1))
    starts = found.starts or _similar(lines, hunk, after)
    if hunk.at_end:
        starts = tuple(at for at in starts if at + len(hunk.old) == len(lines)) or starts
    start = _only(lines, hunk, starts, is_anchored)
    block = rewritten(lines[start : start + len(hunk.old)], hunk.old, hunk.new)
    if block is None:
        raise Problem(
            "its indentation differs from the file's in more than one way; copy the lines exactly",
            candidates=[excerpt(lines, start, len(hunk.old))],
        )
    return start, block


def _similar(lines: list[str], hunk: v4a.Hunk, begin: int) -> tuple[int, ...]:
    return tuple(at + begin for at in find_similar(lines[begin:], hunk.old, hunk.new).starts)


def _only(lines: list[str], hunk: v4a.Hunk, starts: Sequence[int], is_anchored: bool) -> int:
    if not starts:
        raise Problem(
            "its lines are not in the file below the hunk before it; read the file and copy them",
            candidates=candidates(lines, hunk.old),
        )
    if len(starts) > 1 and not is_anchored:
        raise Problem(
            f"its lines fit {len(starts)} places (lines "
            f"{', '.join(str(start + 1) for start in starts[:10])}); add lines around the change, "
            "or a line '@@ text' that names a line above it",
            candidates=[excerpt(lines, start, 3) for start in starts[:3]],
        )
    return starts[0]


def _below_anchors(lines: list[str], anchors: list[str], begin: int) -> tuple[int, bool]:
    """The line below the anchors, and whether they name one place only."""
    is_unique = bool(anchors)
    for anchor in anchors:
        fitting = _fitting(lines, anchor, begin)
        if not fitting:
            raise Problem(f"no line below the hunk before it is {anchor!r:.200}")
        begin = fitting[0] + 1
        is_unique = len(fitting) == 1
    return begin, is_unique


def _fitting(lines: list[str], anchor: str, begin: int) -> list[int]:
    """Lines that are the anchor; else those that begin with it."""
    wanted = fold(anchor)
    folded = [(at, fold(lines[at])) for at in range(begin, len(lines))]
    whole = [at for at, line in folded if line == wanted]
    return whole or [at for at, line in folded if line.startswith(wanted)]
