"""Run shell commands in the session's shell, or beside it in the background."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tools.environments.base import CommandResult, Environment
from tools.environments.host import HostError
from tools.environments.jobs import JobOptions
from tools.environments.local import LocalEnvironment, shell_is_available
from tools.environments.pty import run_in_terminal
from tools.environments.sudo import (
    CHECK_SUDO,
    ON_STDIN,
    SECONDS_TO_TYPE,
    asking,
    uses_sudo,
)
from tools.environments.timeouts import (
    DEFAULT_TIMEOUT,
    FOREGROUND_MAX_TIMEOUT,
    longest_wait,
    usual_wait,
)
from tools.files.workspace import folder_of
from tools.known_commands import exit_code_meaning, parts_of, runs_for_ever
from tools.registry import registry, tool_error, tool_result
from tools.safety import Objection, inspect_command
from tools.safety.launching import language_of
from tools.safety.looking import only_looks
from tools.safety.scene import program_name
from tools.secrets.placeholders import refusal, secrets_of

SECONDS_TO_END = 15
"""What a call may take beyond its own timeout: starting a shell, ending processes."""
SECONDS_BETWEEN_LOOKS = 0.05

SCHEMA = {
    "name": "terminal",
    "description": (
        "Run a bash command and wait for it. The folder, variables, functions and aliases stay "
        "from one call to the next. Answers with `output` (standard output and error together, "
        "long ones shortened in the middle) and `exit_code`. Standard input is empty, so pass "
        "options such as -y instead of waiting for a prompt. For servers, watchers and anything "
        "that runs for minutes use background=true, then follow it with the process tool. To "
        "read, search or change files, prefer the file tools."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command, one or more lines."},
            "background": {
                "type": "boolean",
                "default": False,
                "description": "Return at once with a session_id for the process tool.",
            },
            "pty": {
                "type": "boolean",
                "default": False,
                "description": (
                    "Run in a terminal of its own, for programs that need one (a REPL, a program "
                    "that asks). It runs beside the shell: folder and variables do not stay."
                ),
            },
            "notify_on_complete": {
                "type": "boolean",
                "default": False,
                "description": (
                    "With background: you are told when it ends, in this turn or the next. "
                    "Better than waiting or polling for anything that takes long."
                ),
            },
            "watch_patterns": {
                "type": "array",
                "items": {"type": "string"},
                "description": (
                    "With background: you are told of lines of the output that hold one of these "
                    "texts, such as 'Listening on' or 'ERROR'. Not with notify_on_complete."
                ),
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "description": (
                    f"Seconds to wait before the command is killed (default {DEFAULT_TIMEOUT}, "
                    f"at most {FOREGROUND_MAX_TIMEOUT})."
                ),
            },
            "workdir": {
                "type": "string",
                "description": "Folder for this call only; the shell stays where it is.",
            },
        },
        "required": ["command"],
    },
}


def terminal(args: Mapping[str, Any], **context: Any) -> str:
    command = str(args["command"])
    environment: Environment | None = context.get("environment")
    if problem := refusal(command, secrets_of(context)) or _sudo_problem(command):
        return tool_error(problem)
    try:
        if args.get("background"):
            return _start(command, args, environment, context)
        if problem := _foreground_problem(command, args):
            return tool_error(problem)
        if environment is not None:
            return _run(command, args, environment, context)
        with LocalEnvironment(context.get("cwd")) as throwaway:
            return _run(command, args, throwaway, context)
    except (ValueError, OSError, HostError) as error:
        return tool_error(str(error))


def _run(
    command: str, args: Mapping[str, Any], environment: Environment, context: Mapping[str, Any]
) -> str:
    run: Callable[..., CommandResult] = environment.execute
    if args.get("pty"):
        if uses_sudo(command) and (problem := _without_password(command, environment, context)):
            return tool_error(problem)
        run = partial(run_in_terminal, environment)
    with asking(context.get("ask_secret")), _turn(context):
        result = run(
            command,
            timeout=_timeout(args),
            cwd=args.get("workdir"),
            on_output=context.get("on_output"),
            cancelled=context.get("cancelled"),
        )
    return tool_result(_answer(command, result))


@contextmanager
def _turn(context: Mapping[str, Any]) -> Iterator[None]:
    """Wait for the commands that other calls run in the shell, outside of our own time."""
    turn: threading.Lock | None = context.get("shell_turn")
    if turn is None:
        yield
        return
    waiting, cancelled = context.get("waiting") or nullcontext, context.get("cancelled")
    with waiting():
        while not (mine := turn.acquire(timeout=SECONDS_BETWEEN_LOOKS)):
            if cancelled is not None and cancelled.is_set():
                break  # the environment sees that, too
    try:
        yield
    finally:
        if mine:
            turn.release()


def _answer(command: str, result: CommandResult) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "output": result.output,
        "exit_code": result.exit_code,
        "error": None,
    }
    if meaning := exit_code_meaning(command, result.exit_code):
        answer["exit_code_meaning"] = meaning
    if result.note:
        answer["note"] = result.note
    return answer


def _start(
    command: str,
    args: Mapping[str, Any],
    environment: Environment | None,
    context: Mapping[str, Any],
) -> str:
    if environment is None:
        return tool_error("background=true needs a session; there is none for this call")
    if uses_sudo(command) and (problem := _without_password(command, environment, context)):
        return tool_error(problem)
    options = _options(args)
    job = environment.spawn(command, cwd=args.get("workdir"), options=options)
    answer = {
        "output": "Background process started",
        "session_id": job.id,
        "pid": job.pid,
        "exit_code": 0,
        "error": None,
    }
    return tool_result({**answer, **_told(args, options)})


def _options(args: Mapping[str, Any]) -> JobOptions:
    notify = bool(args.get("notify_on_complete"))
    patterns = tuple(filter(None, map(str, args.get("watch_patterns") or ())))
    return JobOptions(
        pty=bool(args.get("pty")),
        notify_on_complete=notify,
        watch_patterns=() if notify else patterns,
    )


def _told(args: Mapping[str, Any], options: JobOptions) -> dict[str, Any]:
    """What the model is reminded of: of what it will hear."""
    told: dict[str, Any] = {}
    if options.notify_on_complete:
        told["notify_on_complete"] = True
        if args.get("watch_patterns"):
            told["watch_patterns_ignored"] = "notify_on_complete is set, so its end is told alone"
    if options.watch_patterns:
        told["watch_patterns"] = list(options.watch_patterns)
    return told


def _without_password(command: str, environment: Environment, context: Mapping[str, Any]) -> str:
    """Have the password entered now: nobody is asked for what runs in the background."""
    ask = context.get("ask_secret")
    with asking(ask and (lambda text: ask(text.replace(CHECK_SUDO, command)))):
        result = environment.execute(
            CHECK_SUDO, timeout=SECONDS_TO_TYPE, cancelled=context.get("cancelled")
        )
    return "" if result.exit_code == 0 else f"{result.output.strip()}\n{result.note}".strip()


def _sudo_problem(command: str) -> str:
    """Why sudo may not be used so; "" if it may."""
    if ON_STDIN.search(command) is None:
        return ""
    return (
        "Leave -S out and give sudo no password: where it needs one, the user is asked, and you "
        "never see it. A password has no place in a command."
    )


def _timeout(args: Mapping[str, Any]) -> float:
    given = args.get("timeout")
    return usual_wait() if given is None else float(given)


def _foreground_problem(command: str, args: Mapping[str, Any]) -> str:
    """Why a command should not be waited for, with the remedy; "" if it can be."""
    longest = longest_wait()
    if _timeout(args) > longest:
        return (
            f"timeout={_timeout(args):g} is more than the {longest:g} s a call may wait. "
            "Use background=true and follow the process with the process tool."
        )
    if args.get("notify_on_complete") or args.get("watch_patterns"):
        return "notify_on_complete and watch_patterns need background=true; this call would wait."
    commands = parts_of(command)
    if commands and commands[-1].ending == "&":
        return (
            "The command ends with '&'. Leave the '&' out and use background=true: then its "
            "output can be read and it can be ended with the process tool."
        )
    if server := next((part for part in commands if runs_for_ever(part)), None):
        words = " ".join(map(str, server.words[:3]))
        return (
            f"{words!r} runs until it is ended, so this call would only time out. "
            "Use background=true, then the process tool to read its output."
        )
    return ""


def objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    workdir = Path(str(args.get("workdir") or "")).expanduser()
    # A link may stand for another folder than its name says.
    folder = os.path.realpath(Path(folder_of(context), workdir))
    command = str(args["command"])
    said = inspect_command(command, folder) or _script_objection(command, folder, context)
    return said and replace(said, cwd=folder)


def _script_objection(command: str, folder: str, context: Mapping[str, Any]) -> Objection | None:
    """Of a script that this session has written itself: nobody else has looked at it."""
    written = [path for path in tuple(context.get("written") or ()) if "\0" not in path]
    words = {Path(str(word)).name for part in parts_of(command) for word in part.words}
    for path in (path for path in written if Path(path).name in words):
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # then it cannot run either
        is_python = path.endswith(".py") or text.startswith(("#!/usr/bin/env py", "#!/usr/bin/py"))
        judged = shlex.join(["python", "-c", text]) if is_python else text
        is_script = is_python or path.endswith((".sh", ".bash")) or text.startswith("#!")
        said = inspect_command(judged, folder) if is_script or _runs(command, path) else None
        if said is not None:
            shown = f"{command}\n\n# {path}:\n{text}"
            return replace(said, reason=f"runs {path}, which {said.reason}", shown=shown)
    return None


def _runs(command: str, path: str) -> bool:
    """Is the file given to a shell?"""
    name = Path(path).name
    return any(
        _takes_scripts(program_name(str(part.words[0])))
        and any(Path(str(word)).name == name for word in part.words[1:])
        for part in parts_of(command)
        if part.words
    )


def _takes_scripts(program: str) -> bool:
    return program in ("source", ".") or language_of(program) == "shell"


def reads_only(args: Mapping[str, Any], **context: Any) -> bool:
    """Does the command surely change nothing?"""
    folder = os.path.realpath(Path(folder_of(context), str(args.get("workdir") or "")).expanduser())
    return not args.get("background") and only_looks(str(args["command"]), folder)


def prepare(_args: Mapping[str, Any], **context: Any) -> None:
    """Have the shell started."""
    environment: Environment | None = context.get("environment")
    if environment is not None:
        environment.prepare()


def longest_seconds(args: Mapping[str, Any]) -> float:
    typing = SECONDS_TO_TYPE if uses_sudo(str(args["command"])) else 0
    return SECONDS_TO_END + typing + (0 if args.get("background") else _timeout(args))


registry.register(
    name="terminal",
    toolset="terminal",
    schema=SCHEMA,
    handler=terminal,
    emoji="💻",
    check_fn=shell_is_available,
    guard_fn=objection,
    reads_only=reads_only,
    prepare_fn=prepare,
    effects="unknown",
    timeout=longest_seconds,
    max_result_size_chars=50_000,
)
