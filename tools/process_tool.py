"""Follow, feed and end the processes that the terminal tool has started in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tools.environments.base import Environment
from tools.environments.job_pages import Page, page, stretch
from tools.environments.jobs import Job, JobError
from tools.environments.timeouts import longest_wait, usual_wait
from tools.files.workspace import folder_of
from tools.registry import registry, tool_error, tool_result
from tools.safety import Objection, inspect_command
from tools.safety.looking import only_looks
from tools.secrets.placeholders import refusal, secrets_of

LISTED_COMMAND_CHARS = 200
LISTED_OUTPUT_CHARS = 200
POLLED_OUTPUT_CHARS = 1_000
WAITED_OUTPUT_CHARS = 2_000
DEFAULT_LINES = 200
SECONDS_TO_END = 15

SCHEMA = {
    "name": "process",
    "description": (
        "Manage background processes started by terminal(background=true). `list` shows all; "
        "`poll` the state and newest output of one; `log` its output, by lines or from a byte "
        "on; `wait` waits for its end; `kill` ends it and its children; `write` sends `data` to "
        "its standard input or terminal, `submit` the same and Enter; `close` ends its input."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["list", "poll", "log", "wait", "kill", "write", "submit", "close"],
            },
            "session_id": {
                "type": "string",
                "description": "Which process (proc_...); needed for all actions but list.",
            },
            "data": {"type": "string", "description": "Text for write and submit."},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "description": "Seconds for wait (default 180, at most 600).",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "First line for log, counted from 0. Leave out for the last lines.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "description": f"Number of lines for log (default {DEFAULT_LINES}).",
            },
            "cursor": {
                "type": "integer",
                "minimum": 0,
                "description": (
                    "First byte for log, instead of a line. Pass the next_cursor of the last "
                    "answer to get only what is new."
                ),
            },
        },
        "required": ["action"],
    },
}


def process(args: Mapping[str, Any], **context: Any) -> str:
    environment: Environment | None = context.get("environment")
    if environment is None:
        return tool_error("the process tool needs a session; there is none for this call")
    action = str(args["action"])
    if action == "list":
        return tool_result(processes=[_listed(each) for each in environment.processes.all()])
    if action not in ACTIONS:
        return tool_error(f"unknown action {action!r}; choose from list, {', '.join(ACTIONS)}")
    process_id = str(args.get("session_id") or "")
    if not process_id:
        return tool_error(f"action {action!r} needs a session_id; action 'list' shows them")
    found = environment.processes.get(process_id)
    if found is None:
        return tool_error(
            f"no process {process_id!r}; it may have ended long ago", status="not_found"
        )
    try:
        answer = ACTIONS[action](found, args, context)
    except JobError as error:
        return tool_error(f"{found.id}: {error}", status=found.status)
    if "completion_reason" in answer and not context.get("by_hand"):
        environment.processes.seen(found)  # so the model need not be told once more
    return tool_result(answer)


def _listed(found: Job) -> dict[str, Any]:
    options = found.record.options
    told = {
        "pty": options.pty,
        "notify_on_complete": options.notify_on_complete,
        "watch_patterns": list(options.watch_patterns),
    }
    try:
        preview = found.tail(LISTED_OUTPUT_CHARS)
    except JobError as error:
        preview = f"[{error}]"
    started_at = datetime.fromtimestamp(found.record.started_at, UTC)
    return {
        "session_id": found.id,
        "command": found.command[:LISTED_COMMAND_CHARS],
        "cwd": found.cwd,
        "pid": found.pid,
        "started_at": started_at.isoformat(timespec="seconds"),
        "uptime_seconds": round(found.uptime, 1),
        "status": found.status,
        "output_preview": preview,
        **{name: value for name, value in told.items() if value},
        **_ending(found),
    }


def _ending(found: Job) -> dict[str, Any]:
    end = found.end
    return {"exit_code": end.exit_code, "completion_reason": end.reason} if end else {}


def _poll(found: Job, args: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "session_id": found.id,
        "command": found.command,
        "status": found.status,
        "pid": found.pid,
        "uptime_seconds": round(found.uptime, 1),
        "output_preview": found.tail(POLLED_OUTPUT_CHARS),
        **_ending(found),
    }


def _log(found: Job, args: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    status, limit = found.status, int(args.get("limit") or DEFAULT_LINES)
    about = {"session_id": found.id, "command": found.command, "status": status}
    cursor = args.get("cursor")
    if cursor is None:
        shown = page(found, args.get("offset"), limit)
        return {
            **about,
            "output": shown.text,
            "total_lines": shown.total,
            "showing": _showing(shown),
            "total_bytes": shown.total_bytes,
        }
    part = stretch(found, int(cursor), limit)
    note = f"bytes {part.start} to {part.next} of {part.total}"
    if part.start > int(cursor):
        note += f"; the first {part.start} are no longer kept"
    return {
        **about,
        "output": part.text,
        "showing": note,
        "next_cursor": part.next,
        "total_bytes": part.total,
    }


def _showing(page: Page) -> str:
    if not page.shown:
        return f"no lines; there are {page.total}, counted from 0"
    text = f"lines {page.first} to {page.first + page.shown - 1} of {page.total}, counted from 0"
    return f"{text}; the first {page.forgotten} are no longer kept" if page.forgotten else text


def _wait(found: Job, args: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    cancelled: threading.Event = context.get("cancelled") or threading.Event()
    seconds = _wait_seconds(args)
    answer: dict[str, Any]
    if found.wait(seconds, cancelled.is_set):
        answer = {"status": "exited", **_ending(found)}
    elif cancelled.is_set():
        answer = {"status": "interrupted", "exit_code": None}
    else:
        note = f"still running after {seconds:g} s; wait again, poll or kill it"
        answer = {"status": "timeout", "exit_code": None, "timeout_note": note}
    return {"session_id": found.id, **answer, "output": found.tail(WAITED_OUTPUT_CHARS)}


def _wait_seconds(args: Mapping[str, Any]) -> float:
    given = args.get("timeout")
    return usual_wait() if given is None else min(float(given), longest_wait())


def _kill(found: Job, args: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    was_running = found.status == "running"
    found.kill()
    return {
        "session_id": found.id,
        "status": "killed" if was_running else "already_exited",
        "termination_source": "process tool" if was_running else None,
        "output": found.tail(WAITED_OUTPUT_CHARS),
        **_ending(found),
    }


def _write(found: Job, args: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    given = str(args.get("data") or "")
    if problem := refusal(given, secrets_of(context)):
        return {"error": problem}
    # What Enter sends differs: a program that reads keys from a terminal waits for this one.
    enter = "\r" if found.record.options.pty else "\n"
    text = given + (enter if args["action"] == "submit" else "")
    try:
        written = found.write(text.encode("utf-8", "surrogateescape"))
    except (JobError, ValueError) as error:
        return {
            "error": f"{found.id} does not take input: {error}",
            "status": found.status,
        }
    found.unfinished = (found.unfinished + text).replace("\r", "\n").rpartition("\n")[2]
    return {"session_id": found.id, "status": "ok", "bytes_written": written}


def _close(found: Job, args: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    found.close_input()
    return {"session_id": found.id, "status": "ok", "message": "its input has ended"}


Action = Callable[[Job, Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
ACTIONS: Mapping[str, Action] = {
    "poll": _poll,
    "log": _log,
    "wait": _wait,
    "kill": _kill,
    "write": _write,
    "submit": _write,
    "close": _close,
}


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """What is typed into a program is judged like a command, and asked about if it may be more.

    What runs in a terminal may be another program by now, for which the text means something else:
    only what surely just looks needs no question. Ending our own process is harmless.
    """
    if args.get("action") not in ("write", "submit"):
        return None
    text = str(args.get("data") or "")
    target = str(args.get("session_id") or "a process")
    environment: Environment | None = context.get("environment")
    found = environment.processes.get(target) if environment else None
    cwd = found.cwd if found else folder_of(context)
    whole = (found.unfinished if found else "") + text
    is_line = args["action"] == "submit" or whole.endswith("\n")
    if found and is_line and not found.unfinished and only_looks(text, cwd):
        return None
    said = inspect_command(whole, cwd)
    return Objection(
        reason=f"sends input to {target}" + (f", which {said.reason}" if said else ""),
        shown=f"{target} <- {text!r}",
        grant="this exact input to this process",
        forbidden=bool(said and said.forbidden),
        effects=said.effects if said else (),
    )


def reads_only(args: Mapping[str, Any], **context: Any) -> bool:
    """Does a call only look at processes?"""
    return args.get("action") in ("list", "poll", "log", "wait")


def longest_seconds(args: Mapping[str, Any]) -> float:
    return SECONDS_TO_END + (_wait_seconds(args) if args.get("action") == "wait" else 0)


registry.register(
    name="process",
    toolset="terminal",
    schema=SCHEMA,
    handler=process,
    emoji="⚙️",
    guard_fn=objection,
    reads_only=reads_only,
    effects="unknown",
    timeout=longest_seconds,
)
