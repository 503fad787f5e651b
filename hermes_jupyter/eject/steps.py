"""What each call of a turn did, as code, or as a comment that says why there is none."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.eject.diffs import FileDiff, UnclearDiff, apart
from hermes_jupyter.events import ApprovalResolved, BatchStarted, Event, ToolCallFinished
from hermes_jupyter.text import json_object

MASKS = ("«redacted:", "«secret:")
MAX_COMMENT_CHARS = 200
LOOKING = frozenset({
    "clarify", "inspect_variable", "list_variables", "read_cells", "read_file", "read_result",
    "search_files", "session_search", "skill_view", "skills_list", "todo", "vision_analyze",
    "web_extract", "web_search",
})  # fmt: skip
"""Tools that leave everything as it was."""
IN_NOTEBOOK: Mapping[str, str] = {
    "delete_cell": "the notebook is without them",
    "edit_cell": "the notebook has it",
    "insert_cell": "the notebook has it",
    "move_cell": "the notebook has it there",
    "run_cell": "ran a cell of the notebook: run it there",
}
"""What calls did that work on cells, and needs no code."""
KINDS: Mapping[str, str] = {
    "files_created": 'turn.write({}, "")',
    "files_modified": "",
    "files_deleted": "turn.delete({})",
}
"""How an answer lists files, and what becomes of one of which the diff has no line."""
ENDS: Mapping[str, str] = {
    "denied": "was denied, so it did not run",
    "interrupted": "was interrupted",
    "timeout": "was ended because it took too long",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of the ejected code."""

    code: str
    """Empty if there is none."""
    comment: str = ""
    uses_steps: bool = True
    """Does it need the class `Steps`?"""


@dataclass(frozen=True, slots=True)
class _Done:
    """A call, as it ran, and what came of it."""

    call: ToolCall
    result: ToolResult | None
    folder: str
    """Where the turn began: paths in it become relative."""


def steps_of(events: Sequence[Event], folder: str = "") -> list[Step]:
    """The calls of a turn in their order, as code."""
    results = {
        event.result.call.id: event.result
        for event in events
        if isinstance(event, ToolCallFinished)
    }
    edited = _edited(events)
    batches = [event.calls for event in events if isinstance(event, BatchStarted)]
    return [
        _step(_Done(edited.get(call.id, call), results.get(call.id), folder))
        for calls in batches
        for call in calls
    ]


def _edited(events: Sequence[Event]) -> dict[str, ToolCall]:
    """Calls that ran as a person had changed them."""
    return {
        event.request.call.id: replace(
            event.request.call,
            args={**event.request.call.args, event.request.editable: event.edited},
        )
        for event in events
        if isinstance(event, ApprovalResolved)
        and event.edited is not None
        and event.decision != "deny"
        and event.request.editable
    }


def _step(done: _Done) -> Step:
    call, result = done.call, done.result
    if result is None:
        return _without(done, "did not run to its end")
    if result.status in ENDS:
        return _without(done, ENDS[result.status])
    if call.name in LOOKING:
        return Step("", f"looked: {_short(call)}")
    if result.status == "error" and call.name != "terminal":
        return _without(done, "failed, and is left out")
    if call.name in IN_NOTEBOOK:
        return Step("", f"{IN_NOTEBOOK[call.name]}: {_short(call)}")
    if any(mask in str(value) for value in call.args.values() for mask in MASKS):
        return _without(done, "holds a secret, which is masked in what is kept")
    made = MAKERS.get(call.name)
    return made(done) if made else _without(done, "cannot be done without the agent")


def _command(done: _Done) -> Step:
    args = done.call.args
    command = str(args.get("command", ""))
    if _is_true(args.get("background")):
        return _without(done, "ran in the background; start it yourself")
    if done.result is not None and done.result.status == "error":
        answer = json_object(done.result.text) or {}
        if "exit_code" not in answer:
            return _without(done, "failed before it ran")
    folder = str(args.get("workdir") or "")
    more = f", {_local(folder, done.folder)}" if folder else ""
    comment = ""
    if done.folder and done.folder in command:
        comment = f"names the folder {done.folder} of the turn"
    if _is_true(args.get("pty")):
        return Step(f"turn.sh({literal(f'({command})')}{more})", "ran in a terminal of its own")
    return Step(f"turn.sh({literal(command)}{more})", comment)


def _written(done: _Done) -> Step:
    path = _local(str(done.call.args.get("path", "")), done.folder)
    content = str(done.call.args.get("content", ""))
    return Step(f"turn.write({path}, {literal(content)})")


def _patched(done: _Done) -> Step:
    """Its answer says line by line what was changed, however the model had written it."""
    answer = (json_object(done.result.text) if done.result else None) or {}
    diff = answer.get("diff")
    if not isinstance(diff, str) or any(mask in diff for mask in MASKS):
        return _without(done, "changed what its answer does not show")
    try:
        files = [*apart(diff)]
    except UnclearDiff:
        return _without(done, "changed more than its answer shows")
    named = {str(path): make for kind, make in KINDS.items() for path in answer.get(kind) or ()}
    shown = {_whole(file.name, named): file for file in files}
    changes = [_change(file, _local(path, done.folder)) for path, file in shown.items()]
    # An empty file comes and goes without a line.
    rest = [
        make.format(_local(path, done.folder))
        for path, make in named.items()
        if path not in shown and make
    ]
    return Step("\n".join([*changes, *rest]))


def _change(file: FileDiff, path: str) -> str:
    match file.kind:
        case "new":
            return f"turn.write({path}, {literal(file.content)})"
        case "gone":
            return f"turn.delete({path})"
    return f"turn.patch({path}, {literal(chr(10).join(file.hunks))})"


def _whole(name: str, named: Iterable[str]) -> str:
    """The whole path of a file that a diff names."""
    parts = PurePath(name).parts
    return next((path for path in named if PurePath(path).parts[-len(parts) :] == parts), name)


def _code(done: _Done) -> Step:
    code = str(done.call.args.get("code", ""))
    return Step(code.strip("\n"), uses_steps=False)


MAKERS: Mapping[str, Callable[[_Done], Step]] = {
    "terminal": _command,
    "write_file": _written,
    "patch": _patched,
    "run_python": _code,
}
"""How the calls of a tool become code."""


def _without(done: _Done, why: str) -> Step:
    return Step("", f"not ejected, it {why}: {_short(done.call)}")


def _short(call: ToolCall) -> str:
    """The call on one line."""
    said = " ".join(f"{name}={value!r}" for name, value in call.args.items())
    line = " ".join(f"{call.name} {said}".split())
    shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in line)
    return shown if len(shown) <= MAX_COMMENT_CHARS else f"{shown[: MAX_COMMENT_CHARS - 1]}…"


def _local(path: str, folder: str) -> str:
    """Source of a path; one in the folder of the turn is seen from where the code starts."""
    for begin in (folder, os.path.realpath(folder)) if folder else ():
        if PurePath(path).is_absolute() and PurePath(path).is_relative_to(begin):
            return f"turn.start / {str(PurePath(path).relative_to(begin))!r}"
    return literal(path)


def _is_true(value: Any) -> bool:
    return value is True or str(value).lower() == "true"


def literal(text: str) -> str:
    """Python source of exactly this text, over several lines where that reads better."""
    if "\n" in text.strip("\n") and text.isprintable() is False:
        body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if body.endswith('"'):
            body = f'{body[:-1]}\\"'
        candidate = f'"""\\\n{body}"""'
        if _means(candidate, text):
            return candidate
    return ascii(text) if not _means(repr(text), text) else repr(text)


def _means(source: str, text: str) -> bool:
    """Does the source stand for the text, also after a file was written and read?"""
    try:
        read = source.encode("utf-8").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        return bool(ast.literal_eval(read) == text)
    except (ValueError, SyntaxError, UnicodeError):
        return False
