"""Say a tool's result in the few plain words that a small model understands best."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

NOTHING_FOUND = "nothing found"
NAMES_FOUND = "files by name:"
DEFINITION = re.compile(
    r"\s*(?:(?:export|default|async|public|private|static|pub)\s+)*"
    r"(?:(?:def|class|function|func|fn|const|let|var|struct|interface|type|enum|trait)\s+\w"
    r"|[A-Za-z_][\w.]*\s*(?::\s*\w+\s*)?=(?!=))"
)
LONGEST = 6_000  # characters; about 2,000 tokens, so that three long results fit the window


def plain(name: str, text: str) -> str:
    """Return what the model reads instead of the JSON text of a result."""
    try:
        result = json.loads(text)
    except ValueError:
        return capped(text)
    if not isinstance(result, dict):
        return capped(text)
    if result.get("error") and not result.get("output"):
        return capped(failed(result))
    try:
        words = WORDINGS[name](result) if name in WORDINGS else ""
        return capped(words) + cut_note(result) if words else capped(compact(result))
    except (KeyError, TypeError, ValueError):  # a tool of that name with results of its own
        return capped(compact(result))


def cut_note(result: Mapping[str, Any]) -> str:
    """What a result that was cut says about itself, below the plain words."""
    note = result.get("cut")
    return f"\n({note})" if isinstance(note, str) else ""


def failed(result: Mapping[str, Any]) -> str:
    similar = ", ".join(map(str, result.get("similar_files") or []))
    return f"error: {result['error']}" + (f" There is: {similar}" if similar else "")


def read_file(result: Mapping[str, Any]) -> str:
    lines = result.get("total_lines")
    count = f"({lines} lines)\n" if lines is not None else ""
    return count + str(result["content"]).rstrip("\n")


def write_file(result: Mapping[str, Any]) -> str:
    return f"ok: {result['bytes_written']} bytes written"


def patch(result: Mapping[str, Any]) -> str:
    changed = [line for line in str(result["diff"]).splitlines() if _is_change(line)]
    return "\n".join(["ok:", *changed])


def _is_change(line: str) -> bool:
    return line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))


def terminal(result: Mapping[str, Any]) -> str:
    parts = [str(result["output"]).rstrip("\n") or "(no output)"]
    if result.get("exit_code"):
        parts.append(f"exit code {result['exit_code']}")
    if result.get("error"):
        parts.append(f"error: {result['error']}")
    return "\n".join(parts)


def search_files(result: Mapping[str, Any]) -> str:
    if names := result.get("files"):
        return "\n".join([NAMES_FOUND, *names])
    found = sorted(result.get("matches") or [], key=is_use)
    lines = [located(match) for match in found]
    return "\n".join([f"{result['total_count']} found", *lines]) if lines else NOTHING_FOUND


def located(match: Mapping[str, Any]) -> str:
    return f"{match['path']}:{match['line']}: {match['content']}"


def is_use(match: Mapping[str, Any]) -> bool:
    """Sorts the lines that define something before those that use it: the first is believed."""
    return DEFINITION.match(str(match["content"])) is None


def compact(result: Any) -> str:
    """Return JSON without what is empty: a small model trips over nulls."""
    if isinstance(result, dict):
        result = {key: value for key, value in result.items() if value not in (None, "", [], {})}
    return json.dumps(result, ensure_ascii=False)


def capped(text: str) -> str:
    """Cut the middle out of a long text; the end of an output often says how it went."""
    if len(text) <= LONGEST:
        return text
    head, tail = text[: LONGEST * 3 // 4], text[-LONGEST // 4 :]
    return f"{head}\n... ({len(text) - LONGEST} characters left out) ...\n{tail}"


WORDINGS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "read_file": read_file,
    "write_file": write_file,
    "patch": patch,
    "terminal": terminal,
    "search_files": search_files,
}
