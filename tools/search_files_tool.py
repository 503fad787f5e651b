"""Search the contents of files, or their names."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from tools.files import arguments, globs
from tools.files.answering import answering
from tools.files.consent import guard_reading
from tools.files.findings import Clock, Findings, Match, Query
from tools.files.hidden import hidden_match
from tools.files.patterns import compile_pattern
from tools.files.problems import Problem, shown
from tools.files.workspace import Workspace, missing, workspace_of
from tools.registry import registry, tool_result
from tools.safety import Objection
from tools.secrets.placeholders import Secrets, secrets_of

SECONDS = 60.0
MAX_LIMIT = 1_000
REASONS = {
    "deadline": f"stopped after {SECONDS:.0f} seconds: narrow the path, or simplify the pattern",
    "cancelled": "stopped because the turn was interrupted",
}
TARGETS = ("content", "files")
MODES = ("content", "files_only", "count")

SCHEMA = {
    "name": "search_files",
    "description": (
        "Find text in files, or find files by name. Use it instead of grep, find or ls. "
        "target='content' searches the lines of all files under path for a regular expression; "
        "target='files' lists files whose name fits ('*.py', or a part of the name such as "
        "'report'). If nothing fits, the other target is tried and the answer says so. Returns "
        "total_count (of all hits, not only those shown) and matches with path, line and text; "
        "continue with next_offset. Skips .git, node_modules, virtual environments, binary files."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "Text or regular expression; for files a glob or part of a name.",
            },
            "target": {
                "type": "string",
                "enum": list(TARGETS),
                "default": "content",
                "description": "content: search inside files. files: search file names.",
            },
            "path": {
                "type": "string",
                "default": ".",
                "description": "Folder or file to search.",
            },
            "file_glob": {
                "type": "string",
                "description": "Search only files that fit, for example '*.py' or '*.{md,txt}'.",
            },
            "limit": {"type": "integer", "default": 50, "description": "Hits to return."},
            "offset": {"type": "integer", "default": 0, "description": "Hits to skip."},
            "output_mode": {
                "type": "string",
                "enum": list(MODES),
                "default": "content",
                "description": "content: lines. files_only: file names. count: hits per file.",
            },
            "context": {
                "type": "integer",
                "default": 0,
                "description": "Lines to show before and after each match.",
            },
        },
        "required": ["pattern"],
    },
}


@dataclass(frozen=True, slots=True)
class _Search:
    """One call: what is asked, where, and until when."""

    query: Query
    mode: str
    workspace: Workspace
    clock: Clock
    secrets: Secrets

    def names(self) -> Findings:
        return self.workspace.files.search_names(self.query, self.clock)

    def contents(self, flags: int = 0) -> Findings:
        return self.workspace.files.search_contents(self.query, flags, self.clock)


@answering()
def search_files(args: dict[str, Any], **context: Any) -> str:
    """Handler: search, and try the next best reading of the pattern when nothing is found."""
    search = _search(args, context)
    if arguments.choice(args, "target", TARGETS) == "files":
        answer = _files_first(search)
    else:
        answer = _content_first(search)
    return tool_result(answer)


def _content_first(search: _Search) -> dict[str, Any]:
    pattern = search.query.pattern
    note = compile_pattern(pattern).note
    found = search.contents()
    if found.counts or found.stopped:
        return _content_answer(search, found, note)
    if re.search("[A-Za-z]", pattern):
        found = search.contents(int(re.IGNORECASE))
        if found.counts or found.stopped:
            said = "No line matches in this case; these match in another."
            return _content_answer(search, found, f"{note} {said if found.counts else ''}".strip())
    named = search.names()
    if named.counts:
        said = f"No line matches {pattern!r}; these files have such a name."
        return _names_answer(search, named, f"{note} {said}".strip())
    return _content_answer(search, found, f"{note} No line and no file name matches.".strip())


def _files_first(search: _Search) -> dict[str, Any]:
    pattern = search.query.pattern
    found = search.names()
    if found.counts or found.stopped:
        return _names_answer(search, found, "")
    plain = pattern.strip("*")
    if plain and not globs.is_glob(plain):
        inside = replace(search, query=replace(search.query, pattern=re.escape(plain)))
        lines = inside.contents(int(re.IGNORECASE))
        if lines.counts or lines.stopped:
            note = f"No file is named like {pattern!r}; these lines contain it."
            return _content_answer(search, lines, note)
    return _names_answer(search, found, f"No file is named like {pattern!r}.")


def _search(args: Mapping[str, Any], context: Mapping[str, Any]) -> _Search:
    workspace = workspace_of(context)
    root = workspace.path(arguments.text(args, "path", ".") or ".")
    status = workspace.files.stat(root)
    if status is None:
        raise missing(workspace, root)
    if status.kind == "other":
        raise Problem(f"{shown(root)} is a device, pipe or socket, not a file to search")
    pattern = arguments.text(args, "pattern")
    if not pattern and args.get("target") != "files":
        raise Problem("The pattern is empty; to list files, use target='files'")
    query = Query(
        pattern=pattern,
        root=root,
        folder=workspace.real_folder,
        file_glob=arguments.text(args, "file_glob", ""),
        limit=arguments.number(args, "limit", 50, (1, MAX_LIMIT)),
        offset=arguments.number(args, "offset", 0, (0, 10**9)),
        context=arguments.number(args, "context", 0, (0, 20)),
    )
    mode = arguments.choice(args, "output_mode", MODES)
    clock = Clock(time.monotonic() + SECONDS, context.get("cancelled"))
    return _Search(query, mode, workspace, clock, secrets_of(context))


def _hidden(search: _Search, match: Match) -> Match:
    """The match as the model sees it."""
    path = search.workspace.path(match.path)
    return hidden_match(match, path, search.workspace.files, search.secrets)


def _content_answer(search: _Search, found: Findings, note: str) -> dict[str, Any]:
    if search.mode == "files_only":
        return _names_answer(search, found, note)
    if search.mode == "count":
        page = dict(_page(search, found.counts.items()))
        hits: dict[str, Any] = {"counts": page}
        shown, total = len(page), len(found.counts)
    else:
        hits = {"matches": [_hidden(search, match).as_result() for match in found.matches]}
        shown, total = len(found.matches), found.total
    return {"total_count": found.total, **hits, **_rest(search, found, shown, total, note)}


def _names_answer(search: _Search, found: Findings, note: str) -> dict[str, Any]:
    page = list(_page(search, found.counts))
    rest = _rest(search, found, len(page), len(found.counts), note)
    return {"total_count": len(found.counts), "files": page, **rest}


def _page(search: _Search, items: Any) -> Any:
    return islice(items, search.query.offset, search.query.offset + search.query.limit)


def _rest(search: _Search, found: Findings, shown: int, total: int, note: str) -> dict[str, Any]:
    """What is said beside the hits: whether these are all, and what was left out."""
    after = search.query.offset + shown
    rest: dict[str, Any] = {"truncated": after < total or bool(found.stopped)}
    if after < total and shown:
        rest["next_offset"] = after
    if found.stopped:
        rest["limit_reason"] = f"at least {total}: {REASONS[found.stopped]}"
    elif found.page_is_full:
        rest["limit_reason"] = "the page is full; continue with next_offset"
    if note:
        rest["note"] = note
    if found.left_out:
        rest["left_out"] = found.left_out
    return rest


def _guard(args: Mapping[str, Any], **context: Any) -> Objection | None:
    return guard_reading(args.get("path") or ".", context)


def _resources(args: Mapping[str, Any]) -> list[str]:
    return [str(args.get("path") or ".")]


registry.register(
    name="search_files",
    toolset="file",
    schema=SCHEMA,
    handler=search_files,
    emoji="🔎",
    guard_fn=_guard,
    effects="read",
    resources=_resources,
    timeout=SECONDS + 15,
)
