"""Models of Python functions that run programs: their command lines go to the shell's judge."""

from __future__ import annotations

import ast
import re
import shlex
from typing import TYPE_CHECKING

from tools.safety.launching import language_of
from tools.safety.python_code.call import Call
from tools.safety.python_code.calls import ENDS_KERNEL, UNSEEN
from tools.safety.python_code.files import constant
from tools.safety.python_code.values import (
    NOTHING,
    UNKNOWN,
    Items,
    Known,
    Made,
    Named,
    Table,
    Value,
    as_text,
    has_hole,
    in_shell,
)
from tools.safety.scene import Scene, program_name
from tools.safety.variables import LOADERS

if TYPE_CHECKING:
    from tools.safety.python_code.reader import Reader

MANY_FORKS = 8
UNKNOWN_COMMAND = "runs a command that is not known before it runs"
_HOLE_ALONE = re.compile("\ue000\\w*\ue001")


def command_line(value: Value | None) -> str | None:
    """A list of arguments, or one text, as text for the shell; None if nothing of it is known."""
    if isinstance(value, Items):
        words = [_word(as_text(item)) for item in value.items]
        return " ".join([*words, *(["$others"] if value.more else [])]) if words else None
    text = None if value is None else as_text(value)
    if text is None or _HOLE_ALONE.fullmatch(text):
        return None
    return in_shell(text)


def _word(text: str | None) -> str:
    if text is None:
        return '"$unknown"'
    if not has_hole(text):
        return shlex.quote(text)
    quoted = re.sub(r'([\\"$`])', r"\\\1", text)
    return f'"{in_shell(quoted)}"'


def _judge(call: Call, value: Value | None, scene: Scene | None = None) -> None:
    line = command_line(value)
    if line is None:
        call.judge.tell(UNKNOWN_COMMAND)
    else:
        call.judge.shell(line, scene)


def run(call: Call) -> Value:
    """``subprocess.run`` and its kin."""
    command = call.argument(0, "args", "cmd", "command")
    shell = call.keywords.get("shell", Known(False))
    scene = _scene(call)
    _environment(call)
    if isinstance(command, Items) and shell != Known(False) and command.items:
        command = command.items[0]  # the others are arguments of the shell
    executable = call.keywords.get("executable", NOTHING)
    if executable != NOTHING and shell == Known(False) and isinstance(command, Items):
        command = Items([executable, *command.items[1:]], command.more)
    if "preexec_fn" in call.keywords:
        call.judge.call(call.keywords["preexec_fn"], [])
    if isinstance(command, Items | Known) and (inner := _fed(call, command)):
        command = inner
    _judge(call, command, scene)
    if call.spread and command is None:
        call.judge.tell(UNKNOWN_COMMAND)
    return Made("subprocess.Popen" if call.name.endswith("Popen") else "subprocess.Result")


def _fed(call: Call, command: Value) -> Value | None:
    """A shell or interpreter that reads its program from standard input."""
    line = command_line(command) or ""
    words = line.split()
    is_bare = len(words) == 1 or all(word.startswith("-") for word in words[1:])
    if not words or not is_bare or "-c" in words:
        return None
    if not language_of(program_name(words[0])):
        return None
    given = call.keywords.get("input", NOTHING)
    text = as_text(given) if given != NOTHING else None
    if text is not None and not has_hole(text):
        return Known(f"{line} <<< {shlex.quote(text)}")
    if given != NOTHING or call.keywords.get("stdin", NOTHING) != NOTHING:
        call.judge.tell(UNSEEN)
    elif "-i" in words or "-s" in words or call.name.startswith("pty."):
        call.judge.tell("opens a shell that takes further commands")
    return None


def _scene(call: Call) -> Scene | None:
    folder = as_text(call.keywords.get("cwd", NOTHING))
    if folder is None or has_hole(folder):
        return None
    scene = call.judge.scene.inner()
    scene.cwd = scene.path(folder)
    return scene


def _environment(call: Call) -> None:
    """Of a child: variables that make it run something else."""
    given = call.keywords.get("env", NOTHING)
    if isinstance(given, Made) and given.args and isinstance(given.args[0], Known):
        call.judge.copies_of_environment.discard(given.args[0].value)
    entries = given.entries if isinstance(given, Table) else {}
    for name in entries:
        sets_variable(call, name)


def sets_variable(call: Call, name: object) -> None:
    if isinstance(name, str) and name in LOADERS:
        call.judge.tell(f"sets {name}, which may run other code")


def tell_of_forks(reader: Reader, node: ast.AST | None) -> None:
    """Of a call that is made again and again, each time by all copies of the process."""
    if isinstance(node, ast.Call) and reader.evaluate(node.func) == Named("os.fork"):
        reader.tell("multiplies processes until the host stops", forbidden=True)


def shell_text(call: Call) -> Value:
    """Of functions whose first argument is text for a shell."""
    _judge(call, call.argument(0, "cmd", "command", "commandLine"), _scene(call))
    _environment(call)
    return UNKNOWN


def shell_text_of_method(call: Call) -> Value:
    return shell_text(call.after(1))


def remote_shell(call: Call) -> Value:
    """A command for another host: judged as if it ran here, and told."""
    call.judge.tell("runs a command on another host")
    return shell_text_of_method(call)


def words(call: Call) -> Value:
    """Of functions whose arguments are the words of a command."""
    _judge(call, Items(list(call.args), call.spread), _scene(call))
    _environment(call)
    return UNKNOWN


def executed(call: Call) -> Value:
    """``os.exec*`` and ``os.spawn*``; an ``l`` in the name means words, a ``v`` a list."""
    kind = call.name.removeprefix("os.").removeprefix("posix_")
    if kind.startswith("exec") and call.judge.in_kernel:
        call.judge.tell(ENDS_KERNEL)
    rest = (
        call.args[1:] if kind.startswith("spawn") and kind not in ("spawn", "spawnp") else call.args
    )
    if not rest:
        call.judge.tell(UNKNOWN_COMMAND)
        return UNKNOWN
    program, given = rest[0], rest[1:]
    if "l" in kind.removeprefix("exec").removeprefix("spawn"):
        arguments, more = given[1:], call.spread
    elif given and isinstance(given[0], Items):
        arguments, more = given[0].items[1:], given[0].more
    else:
        arguments, more = [], True
    _fed_interactively(call, program, arguments)
    _judge(call, Items([program, *arguments], more))
    return UNKNOWN


def _fed_interactively(call: Call, program: Value, arguments: list[Value]) -> None:
    name = program_name(as_text(program) or "")
    if language_of(name) == "shell" and not arguments:
        call.judge.tell("opens a shell that takes further commands")


def terminal(call: Call) -> Value:
    """``pty.spawn``, ``pexpect.spawn``."""
    command = call.argument(0, "argv", "command")
    line = command_line(command)
    words = line.split() if line else []
    if words and language_of(program_name(words[0])) == "shell" and "-c" not in words:
        call.judge.tell("opens a shell that takes further commands")
    extra = call.argument(1, "args")
    if isinstance(extra, Items) and command is not None:
        command = Items([command, *extra.items], extra.more)
    _judge(call, command)
    return UNKNOWN


def program_as_function(call: Call) -> Value:
    """``sh.git.push("origin")``."""
    names = call.name.split(".")[1:] if call.name.startswith("sh.") else call.name.split(".")[2:]
    _judge(call, Items([*map(Known, names), *call.args], call.spread))
    return UNKNOWN


def git_method(call: Call) -> Value:
    """``repo.git.reset("--hard")`` of GitPython."""
    name = call.name.rpartition(".")[2].replace("_", "-")
    _judge(call, Items([Known("git"), Known(name), *call.args[1:]], call.spread))
    return UNKNOWN


def killed(call: Call) -> Value:
    """``os.kill(pid, signal)``."""
    process, number = constant(call.argument(0, "pid")), constant(call.argument(1, "signal", "sig"))
    if number == 0:
        return UNKNOWN
    if process == -1:
        call.judge.tell("ends all processes", forbidden=True)
    else:
        call.judge.tell("ends or changes processes")
    return UNKNOWN


def pip(call: Call) -> Value:
    """``pip.main([...])``."""
    given = call.argument(0, "args")
    arguments = given if isinstance(given, Items) else Items([], more=True)
    _judge(call, Items([Known("pip"), *arguments.items], arguments.more))
    return UNKNOWN


def chosen_program(call: Call) -> Value:
    """``sh.Command("rm")``."""
    return Made("sh.Command", tuple(call.args[:1]))


def is_program(value: Value) -> bool:
    return isinstance(value, Named) and value.name.startswith(("sh.", "plumbum.cmd."))
