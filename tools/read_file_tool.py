"""Read a text file, numbered and page by page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from tools.files import arguments, kinds
from tools.files.answering import answering
from tools.files.consent import guard_reading
from tools.files.hidden import read_hidden
from tools.files.lines import Page
from tools.files.place import FileStatus
from tools.files.problems import Problem, shown
from tools.files.workspace import Workspace, missing, workspace_of
from tools.registry import registry, tool_result
from tools.safety import Objection
from tools.secrets.placeholders import secrets_of

DEFAULT_LIMIT = 500
MAX_LIMIT = 2_000
MAX_CHARS = 100_000
MAX_ENTRIES = 50

SCHEMA = {
    "name": "read_file",
    "description": (
        "Read a text file. Use it instead of cat, head or tail, and before you change a file. "
        "Returns content with a number before each line ('12|text'; the number is not part of the "
        "file), total_lines, and next_offset if there is more. Notebooks (.ipynb) are shown as "
        "their cells. A secret is shown as a placeholder («secret:...»); copied exactly, it is the "
        "secret again in write_file and patch. A name that does not exist is answered with "
        "similar names."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File to read; ~ and relative paths work."},
            "offset": {
                "type": "integer",
                "default": 1,
                "minimum": 1,
                "description": "Number of the first line to return.",
            },
            "limit": {
                "type": "integer",
                "default": DEFAULT_LIMIT,
                "maximum": MAX_LIMIT,
                "description": "How many lines to return.",
            },
        },
        "required": ["path"],
    },
}


@answering()
def read_file(args: dict[str, Any], **context: Any) -> str:
    """Handler: one page of a file."""
    workspace = workspace_of(context)
    path = workspace.path(arguments.text(args, "path"))
    offset = arguments.number(args, "offset", 1, (1, 10**12))
    limit = arguments.number(args, "limit", DEFAULT_LIMIT, (1, MAX_LIMIT))
    status = _readable(workspace, path)
    window = (offset, limit)
    found = read_hidden(workspace.files, path, window, _stopped(context), secrets_of(context))
    if found.page is None:
        return _binary(path, status, found.head)
    answer = _answer(path, status, found.page, offset)
    return tool_result({**answer, **_about_notebook(found.is_notebook)})


def _stopped(context: Mapping[str, Any]) -> Callable[[], bool]:
    cancelled = context.get("cancelled")
    return cancelled.is_set if isinstance(cancelled, threading.Event) else lambda: False


def _readable(workspace: Workspace, path: str) -> FileStatus:
    status = workspace.files.stat(path)
    if status is None:
        raise missing(workspace, path)
    if status.kind == "folder":
        entries = workspace.files.iterdir(path)
        names = [shown(entry.name) + "/" * (entry.kind == "folder") for entry in entries]
        more = f" (the first {MAX_ENTRIES} of {len(names)})" if len(names) > MAX_ENTRIES else ""
        raise Problem(f"{shown(path)} is a folder; entries{more}:", entries=names[:MAX_ENTRIES])
    if status.kind == "other":
        raise Problem(f"{shown(path)} is a device, pipe or socket, not a file to read")
    return status


def _binary(path: str, status: FileStatus, head: bytes) -> str:
    kind = kinds.kind_of(head)
    return tool_result(
        content="",
        total_lines=0,
        file_size=status.size,
        truncated=False,
        is_binary=True,
        is_image=kind.is_image,
        kind=kind.name,
        resolved_path=shown(path),
        hint=kind.hint,
    )


def _answer(path: str, status: FileStatus, page: Page, offset: int) -> dict[str, Any]:
    numbered = _within_budget([f"{offset + at}|{line}" for at, line in enumerate(page.lines)])
    shortened = len(numbered) < len(page.lines)
    answer: dict[str, Any] = {
        "content": "\n".join(numbered),
        "total_lines": page.total,
        "file_size": status.size,
        "truncated": page.more or shortened,
        "is_binary": False,
        "is_image": False,
        "resolved_path": shown(path),
    }
    if page.encoding != "utf-8":
        answer["encoding"] = page.encoding
    if shortened:
        answer["truncated_by"] = "bytes"
    after = offset + len(numbered)
    if answer["truncated"]:
        answer["next_offset"] = after
    hint = _hint(page, offset, after, bool(answer["truncated"]))
    return {**answer, "hint": hint} if hint else answer


def _within_budget(lines: list[str]) -> list[str]:
    chars = 0
    for index, line in enumerate(lines):
        chars += len(line) + 1
        if chars > MAX_CHARS:
            return lines[: max(1, index)]
    return lines


def _hint(page: Page, offset: int, after: int, truncated: bool) -> str:
    if truncated:
        of = f" of {page.total}" if page.total is not None else "; the rest is too large to count"
        return f"These are lines {offset}-{after - 1}{of}. Continue with offset={after}."
    if page.lines:
        return ""
    if page.total == 0:
        return "The file is empty."
    return f"There is no line {offset}; the file has {page.total} lines."


def _about_notebook(is_notebook: bool | None) -> dict[str, Any]:
    if is_notebook is None:
        return {}
    if is_notebook:
        return {"extracted_document": True}
    return {"hint": "This is no valid notebook; its raw text is shown."}


def _guard(args: Mapping[str, Any], **context: Any) -> Objection | None:
    return guard_reading(args.get("path"), context)


registry.register(
    name="read_file",
    toolset="file",
    schema=SCHEMA,
    handler=read_file,
    emoji="📖",
    guard_fn=_guard,
    effects="read",
    resources=arguments.paths,
    max_result_size_chars=400_000,  # it keeps to its own budget, which JSON makes longer
)
