"""Follow, feed and end the processes that the terminal tool has started in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tools.environments.base import Environment
from tools.environments.processes import BackgroundProcess, Page
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
DEFAULT_WAIT = 180
LONGEST_WAIT = 600

SCHEMA = {
    "name": "process",
    "description": (
        "Manage background processes started by terminal(background=true). `list` shows all; "
        "`poll` the state and newest output of one; `log` its output by lines; `wait` waits for "
        "its end; `kill` ends it and its children; `write` sends `data` to its standard input, "
        "`submit` the same with a line break; `close` closes its standard input."
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
                "description": f"Seconds for wait, at most {LONGEST_WAIT}.",
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
    return ACTIONS[action](found, args, context)


def _listed(found: BackgroundProcess) -> dict[str, Any]:
    return {
        "session_id": found.id,
        "command": found.command[:LISTED_COMMAND_CHARS],
        "cwd": found.cwd,
        "pid": found.pid,
        "started_at": datetime.fromtimestamp(found.started_at, UTC).isoformat(timespec="seconds"),
        "uptime_seconds": round(found.uptime, 1),
        "status": found.status,
        "output_preview": found.log.tail(LISTED_OUTPUT_CHARS),
        **_ending(found),
    }


def _ending(found: BackgroundProcess) -> dict[str, Any]:
    if found.status == "running":
        return {}
    reason = "killed" if found.killed else "exited"
    return {"exit_code": found.exit_code, "completion_reason": reason}


def _poll(found: BackgroundProcess, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    return tool_result(
        session_id=found.id,
        command=found.command,
        status=found.status,
        pid=found.pid,
        uptime_seconds=round(found.uptime, 1),
        output_preview=found.log.tail(POLLED_OUTPUT_CHARS),
        **_ending(found),
    )


def _log(found: BackgroundProcess, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    page = found.log.page(args.get("offset"), int(args.get("limit") or DEFAULT_LINES))
    return tool_result(
        session_id=found.id,
        command=found.command,
        status=found.status,
        output=page.text,
        total_lines=page.total,
        showing=_showing(page),
    )


def _showing(page: Page) -> str:
    if not page.shown:
        return f"no lines; there are {page.total}, counted from 0"
    text = f"lines {page.first} to {page.first + page.shown - 1} of {page.total}, counted from 0"
    return f"{text}; the first {page.forgotten} are no longer kept" if page.forgotten else text


def _wait(found: BackgroundProcess, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    cancelled: threading.Event = context.get("cancelled") or threading.Event()
    seconds = _wait_seconds(args)
    if found.wait(seconds, cancelled.is_set):
        answer = {"status": "exited", **_ending(found)}
    elif cancelled.is_set():
        answer = {"status": "interrupted", "exit_code": None}
    else:
        note = f"still running after {seconds:g} s; wait again, poll or kill it"
        answer = {"status": "timeout", "exit_code": None, "timeout_note": note}
    answer["output"] = found.log.tail(WAITED_OUTPUT_CHARS)
    return tool_result({"session_id": found.id, **answer})


def _wait_seconds(args: Mapping[str, Any]) -> float:
    return min(float(args.get("timeout") or DEFAULT_WAIT), LONGEST_WAIT)


def _kill(found: BackgroundProcess, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    was_running = found.status == "running"
    found.kill()
    return tool_result(
        session_id=found.id,
        status="killed" if was_running else "already_exited",
        termination_source="process tool" if was_running else None,
        output=found.log.tail(WAITED_OUTPUT_CHARS),
        **_ending(found),
    )


def _write(found: BackgroundProcess, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    ending = "\n" if args["action"] == "submit" else ""
    if problem := refusal(str(args.get("data") or ""), secrets_of(context)):
        return tool_error(problem)
    text = str(args.get("data") or "") + ending
    try:
        written = found.write(text)
        found.unfinished = (found.unfinished + text).rpartition("\n")[2]
    except (OSError, ValueError) as error:
        return tool_error(f"{found.id} does not take input: {error}", status=found.status)
    return tool_result(session_id=found.id, status="ok", bytes_written=written)


def _close(found: BackgroundProcess, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    found.close_input()
    return tool_result(session_id=found.id, status="ok", message="its standard input is closed")


Action = Callable[[BackgroundProcess, Mapping[str, Any], Mapping[str, Any]], str]
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
    return 15 + (_wait_seconds(args) if args.get("action") == "wait" else 0)


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
