"""Write a variable into a file, or let a variable hold a result. What is there is not lost."""

from __future__ import annotations

import builtins
import json
import keyword
from collections.abc import Mapping, MutableSet
from dataclasses import replace
from typing import Any

from tools.files import arguments
from tools.files.answering import answering
from tools.files.changes import Change, commit
from tools.files.consent import objection_to, ownership_of
from tools.files.problems import Problem, shown
from tools.files.workspace import Workspace, workspace_of
from tools.live import MISSING, LiveKernel, is_there, live_of
from tools.registry import registry, tool_error, tool_result
from tools.safety import Objection
from tools.values.paths import Unreadable, value_at
from tools.values.plain import glance, named
from tools.values.saving import FORMATS, NotSaved, encoded, format_for

MOST_BYTES = 1 << 30
SECONDS = 300.0
NEW = b"\0"
"""Stands for the content of a file while nothing has been made of the value yet."""

SCHEMA = {
    "name": "save_variable",
    "description": (
        "Write a variable of the user's notebook kernel into a file (path), or put a value into "
        "a variable for them: value, any JSON; or handle, a long result that was cut, whole. The "
        "format follows from the file's ending: csv, tsv, parquet, json, npy, pickle, png or svg "
        "of a figure, text. An existing file or variable of the user's is replaced only with "
        "their approval."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "description": "The variable; with path also a path into one, such as df['a'].",
            },
            "path": {"type": "string", "description": "File to write it into."},
            "format": {
                "type": "string",
                "enum": list(FORMATS),
                "description": "Only if the file's ending does not tell it.",
            },
            "value": {"description": "What the variable shall hold."},
            "handle": {
                "type": "string",
                "description": "The handle of a result that the variable shall hold, whole.",
            },
        },
        "required": ["name"],
    },
}


@answering()
def save_variable(args: dict[str, Any], **context: Any) -> str:
    """Handler: to a file, or to a variable."""
    live = live_of(context)
    if live is None:
        return tool_error(MISSING)
    name = arguments.text(args, "name").strip()
    if wanted := [each for each in ("path", "value", "handle") if args.get(each) is not None]:
        if len(wanted) > 1:
            raise Problem(f"{' and '.join(wanted)} together mean two things; pass one of them")
        if wanted == ["path"]:
            return _to_file(name, args, live, context)
        return _to_variable(name, args, live, context)
    raise Problem("pass path to write a file, or value or handle to fill a variable")


def _to_file(
    name: str, args: Mapping[str, Any], live: LiveKernel, context: Mapping[str, Any]
) -> str:
    workspace = workspace_of(context)
    value, change = _change(name, args, live, workspace)
    try:
        content = encoded(value, _format(args))
    except NotSaved as problem:
        raise Problem(str(problem)) from None
    if len(content) > min(MOST_BYTES, workspace.files.most_bytes):
        raise Problem(f"that makes {len(content):,} bytes, too many to be written here")
    change = replace(change, after=content)
    commit([change], workspace.files, context.get("trash"))
    ownership_of(context).record([change])
    return tool_result(
        saved=name,
        value=glance(value),
        resolved_path=shown(change.path),
        bytes_written=len(content),
        files_modified=[shown(change.path)],
    )


def _format(args: Mapping[str, Any]) -> str:
    try:
        return format_for(arguments.text(args, "path"), arguments.text(args, "format", ""))
    except NotSaved as problem:
        raise Problem(str(problem)) from None


def _change(
    name: str, args: Mapping[str, Any], live: LiveKernel, workspace: Workspace
) -> tuple[Any, Change]:
    """The value, and the change of the file that it means; what is in it comes later."""
    try:
        value = value_at(name, live.namespace())
    except Unreadable as problem:
        raise Problem(str(problem.args[0])) from None
    _format(args)
    path = workspace.path(arguments.text(args, "path"))
    status = workspace.files.stat(path)
    if status is not None and status.kind != "file":
        raise Problem(f"{shown(path)} is a {status.kind}, not a file")
    if status is not None and status.size > workspace.files.most_bytes:
        raise Problem(f"{shown(path)} is too large to be replaced; move it away first")
    before = workspace.files.read_bytes(path) if status is not None else None
    return value, Change(path=path, before=before, after=NEW, whole=True)


def _to_variable(
    name: str, args: Mapping[str, Any], live: LiveKernel, context: Mapping[str, Any]
) -> str:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise Problem(f"{name!r} is no name for a variable of the user's")
    if hasattr(builtins, name):
        raise Problem(f"{name!r} means something in Python already; choose another name")
    value = args["value"] if args.get("value") is not None else _whole(args, context)
    live.assign(name, value)
    written = context.get("written")
    if isinstance(written, MutableSet):
        written.add(_mark(name, value))
    return tool_result(saved=name, value=named(name, value, 200))


def _whole(args: Mapping[str, Any], context: Mapping[str, Any]) -> Any:
    handles = context.get("handles")
    handle = arguments.text(args, "handle")
    if handles is None:
        raise Problem("no results are kept here; pass value")
    try:
        text = handles.whole(handle)
    except LookupError as problem:
        raise Problem(str(problem.args[0])) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _mark(name: str, value: object) -> str:
    """Says in ``written`` that this session has given the variable this value."""
    return f"variable\0{name}\0{id(value)}"


def _guard(args: Mapping[str, Any], **context: Any) -> Objection | None:
    live = live_of(context)
    if live is None or not isinstance(args.get("name"), str):
        return None
    name = str(args["name"]).strip()
    if args.get("path") is None:
        return _objection_to_replacing(name, live, context)
    workspace = workspace_of(context)
    try:
        value, change = _change(name, args, live, workspace)
    except ConnectionError:  # the handler may reach the place again, so this is no answer
        raise
    except (Problem, OSError):
        return None  # the handler fails in the same way, and says why
    said = objection_to([change], workspace, ownership_of(context), whole=True)
    return said and replace(said, shown=f"{name} ({glance(value)}) → {change.path}")


def _objection_to_replacing(
    name: str, live: LiveKernel, context: Mapping[str, Any]
) -> Objection | None:
    there = live.namespace()
    if name not in there or _mark(name, there[name]) in tuple(context.get("written") or ()):
        return None
    return Objection(
        f"replaces your variable {name}",
        f"{name} was: {named(name, there[name], 500)}",
        f"this exact value for {name}",
    )


registry.register(
    name="save_variable",
    toolset="notebook",
    schema=SCHEMA,
    handler=save_variable,
    emoji="💾",
    check_fn=is_there,
    guard_fn=_guard,
    effects="write",
    resources=arguments.paths,
    timeout=SECONDS,
)
