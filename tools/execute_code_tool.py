"""Run a Python script that calls the agent's tools, in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tools.environments.base import Environment
from tools.environments.host import HostError
from tools.environments.local import LocalEnvironment, shell_is_available
from tools.environments.output import OutputCollector
from tools.files.workspace import folder_of
from tools.registry import registry, tool_error, tool_result
from tools.safety import Objection
from tools.scripts.attending import Attendant, Ended
from tools.scripts.boot import job
from tools.scripts.calls import Calls
from tools.scripts.places import Started, start
from tools.scripts.stubs import module_source
from tools.secrets.placeholders import refusal, secrets_of
from tools.view import RegistryView

DEFAULT_TIMEOUT, LONGEST_TIMEOUT = 300, 3_600
SECONDS_TO_END = 15
MOST_CALLS = 200
LONGEST_REASON = 160
GRANT = "this exact script in this folder"
READ_ONLY = "Read-only file system"
NOT_IN_SCRIPTS = frozenset((
    "clarify", "cronjob", "delegate_task", "execute_code", "memory", "read_result", "todo",
    "tool_call", "tool_describe", "tool_search",
))  # fmt: skip
"""What makes no sense in a script: it talks to the person or the agent, or starts another agent."""

SCHEMA = {
    "name": "execute_code",
    "description": (
        "Run a Python script that calls your tools, in a process of its own: for many calls at "
        "once, loops, and filtering large results, so that only what you print comes back. "
        "`from hermes_tools import read_file, terminal, ...`: all your tools are there but "
        "clarify, memory, todo and execute_code, with the same names and arguments, by keyword; "
        "each returns the answer as a dict. Calls may run in threads. Also there: "
        "json_parse(text), shell_quote(text), retry(function, max_attempts=3, delay=2). The "
        "user's variables are not there; run_python has them. At most "
        f"{MOST_CALLS} calls. Answers with `output`, what it printed, and `exit_code`."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The script."},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": LONGEST_TIMEOUT,
                "description": (
                    f"Seconds of its own until it is ended (default {DEFAULT_TIMEOUT}); time in "
                    "tools does not count."
                ),
            },
        },
        "required": ["code"],
    },
}


def execute_code(args: Mapping[str, Any], **context: Any) -> str:
    """Handler: start it, attend it, tell how it ended."""
    code, call_tool = str(args["code"]), context.get("call_tool")
    tools: RegistryView | None = context.get("tools")
    if call_tool is None or tools is None:
        return tool_error("execute_code must be handled by the agent loop")
    if problem := refusal(code, secrets_of(context)):
        return tool_error(problem)
    environment: Environment | None = context.get("environment")
    try:
        if environment is not None:
            return _run(code, args, tools, environment, context)
        with LocalEnvironment(context.get("cwd")) as throwaway:
            return _run(code, args, tools, throwaway, context)
    except HostError as error:
        return tool_error(f"The script did not run: {error}")


def _run(
    code: str,
    args: Mapping[str, Any],
    tools: RegistryView,
    environment: Environment,
    context: Mapping[str, Any],
) -> str:
    usable = [entry for entry in tools.entries() if entry.name not in NOT_IN_SCRIPTS]
    module = module_source((entry, tools.parameters(entry)) for entry in usable)
    started = start(environment)
    calls = Calls(
        context["call_tool"],
        frozenset(entry.name for entry in usable),
        MOST_CALLS,
        started.channel.write,
        context.get("waiting") or nullcontext,
    )
    output = OutputCollector(context.get("on_output"))
    attendant = Attendant(
        started, calls, output, seconds=_timeout(args), cancelled=context.get("cancelled")
    )
    ended = attendant.attend(job(code, module))
    return tool_result(_answer(ended, output.finish(), calls, started))


def _answer(ended: Ended, output: str, calls: Calls, started: Started) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "status": ended.status,
        "output": output,
        "exit_code": ended.exit_code,
        "error": ended.error or None,
        "tool_calls_made": calls.count,
        "duration_seconds": round(ended.seconds, 2),
    }
    if calls.made:
        answer["tools_called"] = dict(calls.made)
    if calls.refused:
        answer["calls_refused"] = calls.refused
    if started.bounds and READ_ONLY in output:
        answer["note"] = (
            "The script may write in the workspace and in /tmp only; with write_file it can ask "
            "for more."
        )
    if ended.status == "error" and ended.exit_code == 127 and not output.strip():
        answer["note"] = "There may be no python3 where the terminal is."
    return answer


def _timeout(args: Mapping[str, Any]) -> float:
    return float(args.get("timeout") or DEFAULT_TIMEOUT)


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """By what the script does itself; its calls of tools are judged when it makes them."""
    from tools.safety.python_code import effects_of_python  # heavy, and wanted only here
    from tools.safety.scene import Scene

    code = str(args["code"])
    folder = os.path.realpath(Path(folder_of(context)))
    effects = tuple(effects_of_python(code, Scene.at(folder)))
    if not effects or (_runs_here(context) and not _compiles(code)):
        return None
    forbidden = [effect for effect in effects if effect.forbidden]
    reason = "; ".join(dict.fromkeys(effect.reason for effect in forbidden or effects))
    if len(reason) > LONGEST_REASON:
        reason = f"{reason[: LONGEST_REASON - 1]}…"
    return Objection(reason, code, GRANT, forbidden=bool(forbidden), cwd=folder, effects=effects)


def _runs_here(context: Mapping[str, Any]) -> bool:
    """With this Python: another one, elsewhere, may be newer and read more."""
    return isinstance(context.get("environment"), LocalEnvironment | None)


def _compiles(code: str) -> bool:
    """Otherwise it only fails, and says why."""
    try:
        compile(code, "<looked at>", "exec")
    except SyntaxError:
        return False
    except (ValueError, RecursionError, MemoryError):
        return True
    return True


registry.register(
    name="execute_code",
    toolset="code_execution",
    schema=SCHEMA,
    handler=execute_code,
    emoji="🐍",
    check_fn=shell_is_available,
    guard_fn=objection,
    effects="unknown",
    timeout=lambda args: _timeout(args) + SECONDS_TO_END,
    max_result_size_chars=50_000,
)
