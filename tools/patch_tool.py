"""Change parts of files: one passage, or a patch over several files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tools.files import arguments, diffs, syntax, v4a
from tools.files.answering import answering
from tools.files.changes import Change, commit
from tools.files.consent import objection_to, ownership_of
from tools.files.display import refuse_display
from tools.files.drafting import Draft, draft_patch
from tools.files.held import refuse_held
from tools.files.hidden import resolved
from tools.files.problems import Problem, shown
from tools.files.replacing import Occurrences, find_replacement
from tools.files.syntax import Lint
from tools.files.text import decode, edited, encode
from tools.files.workspace import Workspace, workspace_of
from tools.registry import registry, tool_result
from tools.safety import Objection
from tools.secrets.placeholders import Secrets, masked, secrets_of

MAX_DIFF_LINES = 1_000
MAX_DIFF_CHARS = 50_000
MODES = ("replace", "patch")

SCHEMA = {
    "name": "patch",
    "description": (
        "Change a part of a file. mode='replace' (usual): old_string becomes new_string; copy "
        "old_string from read_file without line numbers, with enough lines to fit one place only. "
        "mode='patch': a V4A text that may update, add, delete and move several files, all or "
        "none:\n*** Begin Patch\n*** Update File: path\n@@ line above the change\n stays\n"
        "-goes\n+comes\n*** End Patch\n"
        "Returns the diff of what was changed; if the place is not clear, an error with candidates."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "mode": {
                "type": "string",
                "enum": list(MODES),
                "default": "replace",
                "description": "replace: one file, old_string to new_string. patch: V4A text.",
            },
            "path": {"type": "string", "description": "File to change (mode replace)."},
            "old_string": {"type": "string", "description": "Text to replace (mode replace)."},
            "new_string": {"type": "string", "description": "Text to put there; may be empty."},
            "replace_all": {
                "type": "boolean",
                "default": False,
                "description": "Replace every place where old_string is found.",
            },
            "patch": {"type": "string", "description": "The V4A text (mode patch)."},
        },
        "required": [],
    },
}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Changes, and what to tell about how they were found."""

    changes: tuple[Change, ...]
    about: Mapping[str, Any]
    lints: Mapping[str, Lint]


@answering(success=False)
def patch(args: dict[str, Any], **context: Any) -> str:
    """Handler: work out all changes, check them, then make them."""
    workspace, secrets = workspace_of(context), secrets_of(context)
    plan = _plan(args, workspace, secrets)
    refuse_held(plan.changes, workspace, context)
    diff = "".join(change.diff(workspace.name(change.path)) for change in plan.changes)
    commit(plan.changes, workspace.files, context.get("trash"), context.get("checkpoint"))
    ownership_of(context).record(plan.changes)
    return tool_result(
        {
            "success": True,
            "diff": diffs.capped(secrets.mask(diff), MAX_DIFF_LINES, MAX_DIFF_CHARS),
            **_listed(plan.changes),
            **masked(_lint_result(plan.lints), secrets),
            **plan.about,
        }
    )


def _plan(args: Mapping[str, Any], workspace: Workspace, secrets: Secrets) -> _Plan:
    mode = arguments.choice(args, "mode", MODES)
    if args.get("patch") and not args.get("old_string"):
        mode = "patch"  # the arguments leave no doubt, whatever the mode says
    draw = _replace if mode == "replace" else _patch
    draft, about = draw(args, workspace, secrets)
    changes = draft.changes()
    if not changes:
        raise Problem("The patch changes nothing: the files are already as it wants them")
    kept = [change for change in changes if change.after is not None]
    for change in kept:
        _refuse_display(change)
    lints = {workspace.name(change.path): _lint(change) for change in kept}
    return _Plan(tuple(changes), about, lints)


def _patch(
    args: Mapping[str, Any], workspace: Workspace, secrets: Secrets
) -> tuple[Draft, dict[str, Any]]:
    patch = arguments.text(args, "patch")
    existing = _texts_of(patch, workspace) if "secret:" in patch else ""
    return draft_patch(resolved(patch, existing, secrets), workspace), {}


def _texts_of(patch: str, workspace: Workspace) -> str:
    """What the files that it names hold now, as far as that can be read."""
    draft, texts = Draft(workspace), []
    for path in v4a.paths(patch):
        with suppress(Problem, OSError):  # the patch itself will fail, and says why
            texts.append(draft.text(workspace.path(path)).unified)
    return "\n".join(texts)


def _replace(
    args: Mapping[str, Any], workspace: Workspace, secrets: Secrets
) -> tuple[Draft, dict[str, Any]]:
    old, new = _strings(args)
    path = workspace.path(arguments.text(args, "path"))
    draft = Draft(workspace)
    text = draft.text(path)
    old, new = (resolved(each, text.unified, secrets) for each in (old, new))
    occurrences: Occurrences = "all" if arguments.flag(args, "replace_all") else "one"
    try:
        found = find_replacement(text.unified, old, new, occurrences)
    except Problem as problem:
        raise Problem(f"{workspace.name(path)}: {problem}", **problem.extra) from None
    draft.put(path, encode(edited(text, found.edits), text))
    about: dict[str, Any] = {"resolved_path": shown(path), "replacements": len(found.edits)}
    if found.strategy != "exact":
        about["matched"] = found.strategy
    return draft, about


def _strings(args: Mapping[str, Any]) -> tuple[str, str]:
    old = arguments.text(args, "old_string").replace("\r\n", "\n")
    new = arguments.text(args, "new_string").replace("\r\n", "\n")
    if not old.strip("\n"):
        raise Problem(
            "old_string is empty; copy the lines to change, or use write_file for a new file"
        )
    if old == new:
        raise Problem("old_string and new_string are the same; nothing would change")
    return old, new


def _refuse_display(change: Change) -> None:
    after, before = decode(change.after or b""), decode(change.before or b"")
    if after and before:
        refuse_display(after.unified, before.unified, change.path)


def _lint(change: Change) -> Lint:
    """Check the new text. Data that parsed before and would not any more is refused."""
    after, before = decode(change.after or b""), decode(change.before or b"")
    if after is None:
        return Lint("skipped")
    lint = syntax.check(change.path, after.text)
    was_valid = before is None or not syntax.check(change.path, before.text).forbids_writing
    if lint.forbids_writing and not change.moved_from and was_valid:
        raise Problem(
            f"Nothing was changed: {shown(change.path)} would not parse any more: {lint.output}",
            lint=lint.as_result(),
        )
    return lint


def _lint_result(lints: Mapping[str, Lint]) -> dict[str, Any]:
    """One check as it is; several by file."""
    if len(lints) == 1:
        return {"lint": next(iter(lints.values())).as_result()}
    results = {name: lint.as_result() for name, lint in lints.items()}
    return {"lint": results} if results else {}


def _listed(changes: Sequence[Change]) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    for change in changes:
        if change.before is None:
            kind = "files_created"
        else:
            kind = "files_deleted" if change.after is None else "files_modified"
        lists.setdefault(kind, []).append(shown(change.path))
    return lists


def _guard(args: Mapping[str, Any], **context: Any) -> Objection | None:
    workspace, secrets = workspace_of(context), secrets_of(context)
    try:
        changes = _plan(args, workspace, secrets).changes
        refuse_held(changes, workspace, context)
    except ConnectionError:  # the handler may reach the place again, so this is no answer
        raise
    except (Problem, OSError):
        return None  # the handler fails in the same way, and says why
    said = objection_to(changes, workspace, ownership_of(context))
    return said and replace(said, shown=secrets.mask(said.shown))


registry.register(
    name="patch",
    toolset="file",
    schema=SCHEMA,
    handler=patch,
    emoji="🔧",
    guard_fn=_guard,
    effects="write",
    resources=arguments.paths,
)
