"""Search where there is only a shell: one listing of the tree, then the files that may match."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.environments.host import Host, HostError
from tools.files.findings import Clock, Findings, Query
from tools.files.paths import SKIPPED_FOLDERS
from tools.files.patterns import TOKEN, LinePattern
from tools.files.place import Entry, FileStatus, Kind
from tools.files.protected import secret_in
from tools.files.searching import MAX_FILE_BYTES, files_to_search, search_in
from tools.files.walking import Found

if TYPE_CHECKING:
    from tools.files.shell_place import ShellPlace

TYPES: tuple[tuple[str, Kind, bool], ...] = (
    ("-type f", "file", False),
    ("-type d", "folder", False),
    ("-type l -exec /bin/sh -c '[ -f \"$1\" ]' sh {} \\;", "file", True),
)
BATCH_FILES = 64
BATCH_BYTES = 16 << 20
LITERAL = re.compile(r"[^\W]|[ \"#%&',/:;<=>@_`~!-]|\\[^\w\s]", re.ASCII)
"""A token that stands for one character."""
FOLDS_ODDLY = frozenset("iksIKS")
"""Without regard to case, these match characters that are no ASCII, too."""
FILTER = """\
LC_ALL=C; export LC_ALL
if command -v rg >/dev/null 2>&1
then xargs -0 rg --no-config -l -a -F $1 --no-messages --color never -e "$2" --
else xargs -0 grep -l -F $1 -e "$2" /dev/null 2>/dev/null
fi
: whatever they say, what they printed counts
"""


@dataclass(slots=True)
class _Tree:
    """What is below a folder, as it was listed, and files that were fetched."""

    place: ShellPlace
    folders: dict[str, list[Entry]]
    coming: list[str] = field(default_factory=list)
    """Files that will be asked for, in this order, the next one last."""
    fetched: dict[str, bytes | None] = field(default_factory=dict)

    def home(self) -> str:
        return self.place.home()

    def real(self, path: str) -> str:
        return self.place.real(path)

    def stat(self, path: str) -> FileStatus | None:
        return self.place.stat(path)

    def iterdir(self, path: str) -> list[Entry]:
        return sorted(self.folders.get(path, ()), key=lambda entry: entry.name)

    def chunks(self, path: str) -> Iterator[bytes]:
        yield self.read_bytes(path)

    def read_bytes(self, path: str) -> bytes:
        if path not in self.fetched:
            if path not in self.coming:
                return self.place.read_bytes(path)
            self._fetch(path)
        content = self.fetched.pop(path)
        if content is None:
            raise PermissionError(13, "cannot be read, or is too large", path)
        return content

    def _fetch(self, path: str) -> None:
        """The file and those that come after it, in one trip."""
        while self.coming and self.coming[-1] != path:
            self.coming.pop()  # nobody wanted it
        batch = [self.coming.pop() for _ in range(min(BATCH_FILES, len(self.coming)))]
        names = " ".join(map(shlex.quote, batch))
        asked = f"files_read_all {MAX_FILE_BYTES} {BATCH_BYTES} {names}"
        rest = memoryview(self.place.command(asked))
        self.fetched = {}
        for at, each in enumerate(batch):
            if not rest:  # the place had no room for these
                self.coming += reversed(batch[at:])
                return
            end = bytes(rest[:32]).index(b"\n")
            size = int(bytes(rest[:end]))
            rest = rest[end + 1 :]
            self.fetched[each] = None if size < 0 else bytes(rest[:size])
            rest = rest[max(0, size) :]


@dataclass(frozen=True, slots=True)
class ShellSearch:
    """One search."""

    tree: _Tree
    host: Host
    query: Query
    clock: Clock

    def names(self, search: Callable[[Query, _Tree, Clock], Findings]) -> Findings:
        return search(self.query, self.tree, self.clock)

    def contents(self, pattern: LinePattern) -> Findings:
        findings = Findings()
        candidates = list(files_to_search(self.query, self.tree, self.clock, findings))
        kept = self._that_may_match(candidates, pattern)
        findings.stopped = findings.stopped or self.clock.why_stopped()
        self.tree.coming = [found.path for found in reversed(kept) if not found.is_link]
        return search_in(kept, self.query, pattern, self.tree, self.clock, findings)

    def _that_may_match(self, found: Sequence[Found], pattern: LinePattern) -> list[Found]:
        """Without those that surely have no match; all, if that cannot be told."""
        ignores_case = bool(pattern.regex.flags & re.IGNORECASE)
        text = required_text(pattern.regex.pattern, ignores_case)
        home = self.tree.home()
        # Of secrets nothing is looked at; they are counted.
        special = {each for each in found if _is_special(each) or secret_in(each.path, home)}
        names = [each.path for each in found if each not in special]
        if not text or not names:  # without any, these programs read something else
            return list(found)
        matching = set(self._with_text(text, names, ignores_case))
        return [each for each in found if each in special or each.path in matching]

    def _with_text(self, text: str, names: Sequence[str], ignores_case: bool) -> list[str]:
        stdin = b"".join(os.fsencode(name) + b"\0" for name in names)
        argv = ["/bin/sh", "-c", FILTER, "sh", "-i" if ignores_case else "-s", text]
        seconds = max(1.0, self.clock.deadline - time.monotonic())
        try:
            done = self.host.run(argv, stdin=stdin, timeout=seconds)
        except HostError as error:
            if self.clock.why_stopped():
                return []
            raise ConnectionError(str(error)) from error
        return list(map(os.fsdecode, done.out.split(b"\n")))


def search_there(place: ShellPlace, host: Host, query: Query, clock: Clock) -> ShellSearch:
    folders: dict[str, list[Entry]] = {}
    for test, kind, is_link in TYPES:
        for path in _listed(place, query.root, test):
            folder, name = posixpath.split(path)
            folders.setdefault(folder, []).append(Entry(name, kind, is_link))
    return ShellSearch(_Tree(place, folders), host, query, clock)


def _listed(place: ShellPlace, root: str, test: str) -> list[str]:
    skipped = " -o ".join(f"-name {shlex.quote(name)}" for name in sorted(SKIPPED_FOLDERS))
    # A skipped folder is listed, so that it can be counted; what is in it is not.
    is_shown = "-print0" if "-type d" in test else ""
    text = f"-type d \\( {skipped} \\) -prune {is_shown} -o {test} -print0"
    top = f"{root.rstrip('/')}/."  # whatever the root is called, it is not skipped
    found = os.fsdecode(place.command(f"find {shlex.quote(top)} {text} 2>/dev/null || :"))
    return [root.rstrip("/") + each[len(top) :] for each in found.split("\0") if each > top]


def _is_special(found: Found) -> bool:
    """Whether its text is not what is in the file, or its name cannot be told by lines."""
    return found.is_link or found.path.endswith(".ipynb") or "\n" in found.path


def required_text(pattern: str, ignores_case: bool) -> str:
    """The longest text that is in each match of a regular expression, as far as that is plain."""
    if "(?" in pattern:
        return ""
    runs, depth = [""], 0
    for token in TOKEN.findall(pattern):
        if token == "|" and not depth:
            return ""
        depth += (token == "(") - (token == ")")
        if token in ("*", "?") or token.startswith("{"):
            runs[-1] = runs[-1][:-1]  # what is repeated may be missing
            runs.append("")
        elif depth or not _is_plain(token, ignores_case):
            runs.append("")
        else:
            runs[-1] += token[-1]
    return max(runs, key=len)


def _is_plain(token: str, ignores_case: bool) -> bool:
    if not LITERAL.fullmatch(token):
        return False
    return not (ignores_case and token in FOLDS_ODDLY)
