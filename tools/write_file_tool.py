"""Write a whole file: all of it or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.files import arguments, syntax
from tools.files.answering import answering
from tools.files.changes import Change, commit
from tools.files.consent import objection_to, ownership_of
from tools.files.display import refuse_display
from tools.files.held import refuse_held
from tools.files.hidden import resolved
from tools.files.problems import Problem, shown
from tools.files.syntax import Lint
from tools.files.text import Text, decode, encode, with_newlines_of
from tools.files.workspace import Workspace, workspace_of
from tools.registry import registry, tool_result
from tools.safety import Objection
from tools.secrets.placeholders import Secrets, masked, secrets_of

SCHEMA = {
    "name": "write_file",
    "description": (
        "Create a file, or replace all of it. Missing folders are made. To change a part of a "
        "file use patch instead. content is the complete text, without line numbers. JSON, YAML, "
        "TOML and notebooks that do not parse are refused and nothing is written; Python is "
        "written and its syntax errors are reported in lint. Returns bytes_written and the path."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File to write; ~ and relative paths work."},
            "content": {"type": "string", "description": "The complete new text of the file."},
        },
        "required": ["path", "content"],
    },
}


@answering(bytes_written=0, dirs_created=False)
def write_file(args: dict[str, Any], **context: Any) -> str:
    """Handler: check everything, then write."""
    workspace, secrets = workspace_of(context), secrets_of(context)
    change, lint = _plan(args, workspace, secrets)
    refuse_held([change], workspace, context)
    folders = commit([change], workspace.files, context.get("trash"), context.get("checkpoint"))
    ownership_of(context).record([change])
    return tool_result(
        bytes_written=len(change.after or b""),
        dirs_created=bool(folders),
        lint=masked(lint.as_result(), secrets),
        resolved_path=shown(change.path),
        files_modified=[shown(change.path)],
    )


def _plan(args: Mapping[str, Any], workspace: Workspace, secrets: Secrets) -> tuple[Change, Lint]:
    """The change that the arguments ask for, checked; nothing is touched."""
    path = workspace.path(arguments.text(args, "path"))
    content = arguments.text(args, "content")
    before = _existing(workspace, path)
    like = (decode(before) if before else None) or Text("")
    refuse_display(content, like.unified, path)
    content = resolved(content, like.unified, secrets)
    after = encode(with_newlines_of(content.removeprefix("\ufeff"), like), like)
    lint = syntax.check(path, content)
    if lint.forbids_writing:
        said = f"Nothing was written: the content is no valid {path.rpartition('.')[2]}"
        raise Problem(f"{said}: {lint.output}", lint=lint.as_result())
    return Change(path=path, before=before, after=after, whole=True), lint


def _existing(workspace: Workspace, path: str) -> bytes | None:
    status = workspace.files.stat(path)
    if status is None:
        return None
    if status.kind == "folder":
        raise Problem(f"{shown(path)} is a folder; name a file in it")
    if status.kind == "other":
        raise Problem(f"{shown(path)} is a device, pipe or socket, not a file to write")
    if status.size > workspace.files.most_bytes:
        size = f"{status.size:,} bytes"
        raise Problem(f"{shown(path)} has {size}, too many to replace; move it away first")
    return workspace.files.read_bytes(path)


def _guard(args: Mapping[str, Any], **context: Any) -> Objection | None:
    workspace, secrets = workspace_of(context), secrets_of(context)
    try:
        change, _ = _plan(args, workspace, secrets)
        refuse_held([change], workspace, context)
    except ConnectionError:  # the handler may reach the place again, so this is no answer
        raise
    except (Problem, OSError):
        return None  # the handler fails in the same way, and says why
    said = objection_to([change], workspace, ownership_of(context), whole=True)
    return said and replace(said, shown=secrets.mask(said.shown))


registry.register(
    name="write_file",
    toolset="file",
    schema=SCHEMA,
    handler=write_file,
    emoji="✍️",
    guard_fn=_guard,
    effects="write",
    resources=arguments.paths,
)
