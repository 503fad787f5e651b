"""Skills: how things are done, read when needed, and written down for the next time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.files import arguments
from tools.files.answering import answering
from tools.files.diffs import unified_diff
from tools.files.problems import Problem
from tools.registry import registry, tool_result
from tools.safety import Objection

ACTIONS = ("create", "edit", "patch", "delete", "write_file", "remove_file")
MAIN_FILE = "SKILL.md"

LIST_SCHEMA = {
    "name": "skills_list",
    "description": "List the skills there are: name and description of each, by category.",
    "parameters": {
        "type": "object",
        "properties": {"category": {"type": "string", "description": "Only these."}},
        "required": [],
    },
}
VIEW_SCHEMA = {
    "name": "skill_view",
    "description": (
        "Read a skill before you do what it is about: its text, and which files belong to it. "
        "With file_path, one of these files."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name, or category/name."},
            "file_path": {"type": "string", "description": "Such as references/api.md."},
        },
        "required": ["name"],
    },
}
MANAGE_SCHEMA = {
    "name": "skill_manage",
    "description": (
        "Write down how something was done, for the next time: after a task that took many tries, "
        "or when the user says how they want it. create and edit take the whole SKILL.md (content: "
        "'---', name, description of when to use it, '---', then steps in Markdown); patch "
        "replaces old_string by new_string; write_file and remove_file are for files in "
        "references/, templates/, scripts/, assets/."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "name": {"type": "string", "description": "Lower case, digits, '.', '_', '-'."},
            "content": {"type": "string", "description": "The whole SKILL.md."},
            "category": {"type": "string", "description": "A folder for a new skill."},
            "old_string": {"type": "string"},
            "new_string": {"type": "string"},
            "replace_all": {"type": "boolean", "default": False},
            "file_path": {"type": "string", "description": "A file of the skill."},
            "file_content": {"type": "string", "description": "Its text, for write_file."},
        },
        "required": ["action", "name"],
    },
}


def _skills(context: Mapping[str, Any]) -> Any:
    skills = context.get("skills")
    if skills is None:
        raise Problem("skills must be handled by the agent loop")
    return skills


@answering(success=False)
def skills_list(args: dict[str, Any], **context: Any) -> str:
    """Handler: name, description and category of all skills."""
    wanted = arguments.text(args, "category", "")
    found = [each for each in _skills(context).all() if wanted in ("", each.category)]
    return tool_result(
        success=True,
        skills=[
            {"name": each.name, "description": each.description, "category": each.category}
            for each in found
        ],
        categories=sorted({each.category for each in found if each.category}),
        count=len(found),
        hint="Read one with skill_view before you use it.",
    )


@answering(success=False)
def skill_view(args: dict[str, Any], **context: Any) -> str:
    """Handler: a skill's text, or one of its files."""
    skills = _skills(context)
    try:
        skill = skills.get(arguments.text(args, "name"))
        file = arguments.text(args, "file_path", "")
        text = skills.text(skill, file or MAIN_FILE)
    except ValueError as error:
        raise Problem(str(error)) from None
    if file:
        return tool_result(success=True, name=skill.name, file=file, content=text)
    missing_variables, missing_commands = skill.missing_variables, skill.missing_commands
    ready = "setup_needed" if missing_variables or missing_commands else "available"
    return tool_result(
        success=True,
        name=skill.name,
        description=skill.description,
        content=text,
        skill_dir=str(skill.folder),
        linked_files=skills.files(skill),
        missing_required_environment_variables=missing_variables,
        missing_required_commands=missing_commands,
        setup_needed=ready == "setup_needed",
        readiness_status=ready if skill.fits_here else "unsupported",
    )


@answering(success=False)
def skill_manage(args: dict[str, Any], **context: Any) -> str:
    """Handler: write or remove a skill or one of its files."""
    skills = _skills(context)
    trash = context.get("trash")
    try:
        action, path, text = _planned(args, skills)
        if text is not None:
            skills.write(path, text)
            return tool_result(success=True, message=f"{action}: done", path=str(path))
        removed = [path] if action == "remove_file" else _all_files(path.parent)
        for each in removed:
            if trash is not None:
                trash.keep(str(each))
            each.unlink()
        _remove_empty(path.parent)
        skills.forget()
    except ValueError as error:
        raise Problem(str(error)) from None
    return tool_result(
        success=True, message=f"{action}: {len(removed)} files are in the trash", path=str(path)
    )


def _planned(args: Mapping[str, Any], skills: Any) -> tuple[str, Any, str | None]:
    """What a call would do: the action, the file, and its new text (None: it goes).

    Raises
    ------
    Problem, ValueError
    """
    action = arguments.choice(args, "action", ("", *ACTIONS))
    name = arguments.text(args, "name")
    file = arguments.text(args, "file_path", "")
    if action in ("write_file", "remove_file") and not file:
        raise Problem(f"{action} needs file_path, such as references/api.md")
    named = file if action in ("write_file", "remove_file", "patch") and file else MAIN_FILE
    path = skills.path_of(name, arguments.text(args, "category", ""), named)
    is_new = not (path.parent if named == MAIN_FILE else path).exists()
    if action == "create" and path.exists():
        raise Problem(f"the skill {name!r} is there already; use edit or patch")
    if action in ("edit", "patch", "delete", "remove_file") and is_new:
        raise Problem(f"there is no {name!r} with {named}; use create or write_file")
    if action == "write_file" and not skills.path_of(name).exists():
        raise Problem(f"there is no skill {name!r}; create it first")
    match action:
        case "create" | "edit":
            return action, path, arguments.text(args, "content")
        case "write_file":
            return action, path, arguments.text(args, "file_content")
        case "patch":
            return action, path, _patched(args, path.read_text(encoding="utf-8"))
        case "delete" | "remove_file":
            return action, path, None
    raise Problem(f"'action' must be one of {', '.join(ACTIONS)}")


def _patched(args: Mapping[str, Any], before: str) -> str:
    old, new = arguments.text(args, "old_string"), arguments.text(args, "new_string")
    count = before.count(old) if old else 0
    if not count:
        raise Problem("'old_string' is not in the file; read it with skill_view first")
    if count > 1 and not arguments.flag(args, "replace_all"):
        raise Problem(f"'old_string' is there {count} times; give more of it, or replace_all=true")
    return before.replace(old, new)


def _all_files(folder: Any) -> list[Any]:
    return sorted(each for each in folder.rglob("*") if each.is_file() or each.is_symlink())


def _remove_empty(folder: Any) -> None:
    """Folders that hold nothing any more, from below."""
    if folder.is_dir():
        for each in sorted(folder.rglob("*"), reverse=True):
            if each.is_dir() and not any(each.iterdir()):
                each.rmdir()
        if not any(folder.iterdir()):
            folder.rmdir()


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """Later conversations follow what stands there: a person should have seen it."""
    try:
        action, path, text = _planned(args, _skills(context))
        before = path.read_text(encoding="utf-8") if path.exists() else ""
    except (Problem, ValueError, OSError):
        return None  # the call will be answered with that
    if text is None:
        shown = "\n".join(str(each) for each in _all_files(path.parent)) or str(path)
        shown = str(path) if action == "remove_file" else shown
        verb = "deletes"
    else:
        shown = unified_diff(before, text, str(path), str(path))
        verb = "changes" if before else "writes"
    name = args.get("name")
    return Objection(
        reason=f"{verb} the skill {name}, which later conversations follow",
        shown=shown,
        grant=f"changes to the skill {name}",
    )


registry.register(
    name="skills_list",
    toolset="skills",
    schema=LIST_SCHEMA,
    handler=skills_list,
    emoji="📚",
    effects="read",
)
registry.register(
    name="skill_view",
    toolset="skills",
    schema=VIEW_SCHEMA,
    handler=skill_view,
    emoji="📚",
    effects="read",
    max_result_size_chars=120_000,  # a skill is read as a whole
)
registry.register(
    name="skill_manage",
    toolset="skills",
    schema=MANAGE_SCHEMA,
    handler=skill_manage,
    emoji="📝",
    guard_fn=objection,
    effects="unknown",
)
