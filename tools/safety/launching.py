"""Programs that run other programs or code: what is inside is judged as if it stood alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.models import Model, model_of
from tools.safety.scene import Scene, program_name
from tools.safety.shell.values import Command, Word
from tools.safety.variables import loaded

if TYPE_CHECKING:
    from tools.safety.judge import Judge

VERSIONED = re.compile(
    r"(python|pypy|pip|perl|ruby|node|php|lua|R|gcc|g\+\+|clang|psql|mkfs|fsck|java|tclsh|wish)"
    r"(?:[\d.]+[a-z]?|\.\w+|-\d+)"
)
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*(?:%%)?)=(.*)", re.DOTALL)
ASSIGNS = frozenset(("env", "sudo", "doas"))
UNSEEN = Effect("runs text that cannot be seen", kind="unseen")
STDIN_FILES = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
WITHOUT_RUNNING = frozenset(("-V", "--version", "-v", "-h", "--help", "-n", "--check", "-l"))


def family_of(name: str) -> str:
    """``python3.11`` is a ``python``, ``mkfs.ext4`` a ``mkfs``."""
    if name.startswith("ld-") and ".so" in name:
        return "ld.so"
    match = VERSIONED.fullmatch(name)
    return match.group(1) if match else name


def language_of(name: str) -> str:
    """In what a program called ``name`` takes its code, if it is a shell or an interpreter."""
    model = model_of(name) or model_of(family_of(name))
    return model.code if model is not None and model.stdin + model.code else ""


def judge_inner(
    judge: Judge,
    name: str,
    model: Model,
    arguments: Arguments,
    command: Command,
    scene: Scene,
) -> None:
    """Judge what a program runs, if it is one that does."""
    inside = _elsewhere(scene) if model.elsewhere else scene
    for option in model.shell:
        for each, value in arguments.options:
            if each == option and value is not None:
                judge.inner_text(value, inside)
    if model.wraps is not None:
        _wrapped(judge, name, model, command_words(arguments), command, inside)
    if model.shell_words is not None:
        _joined(judge, model.shell_words, model, arguments, command, inside)
    if (model.code or model.stdin) and model.shell_words is None:
        _interpreted(judge, name, model, arguments, command, inside)


def command_words(arguments: Arguments) -> list[Word]:
    return list(arguments.words)


def _elsewhere(scene: Scene) -> Scene:
    inside = scene.inner()
    inside.elsewhere, inside.cwd = True, "/…"  # a folder that is no special one
    return inside


def own_words(model: Model, words: list[Word], name: str) -> tuple[int, dict[str, Word]]:
    """How many words come before the inner command, and the variables among them."""
    at = 0
    assigned: dict[str, Word] = {}
    while at < len(words):
        text = words[at].text
        if text == "--":
            at += 1
            break
        if len(text) > 1 and text[0] in "-+":
            short = not text.startswith("--") and not model.long_dash
            takes = text in model.values or (short and f"-{text[-1]}" in model.values)
            takes = takes and not any(f"-{letter}" in model.values for letter in text[1:-1])
            at += 2 if takes else 1
        elif name in ASSIGNS and (match := ASSIGNMENT.fullmatch(text)):
            assigned[match.group(1)] = words[at]._replace(text=match.group(2))
            at += 1
        else:
            break
    return at, assigned


def _wrapped(
    judge: Judge, name: str, model: Model, words: list[Word], command: Command, scene: Scene
) -> None:
    at, assigned = own_words(model, words, name)
    judge.add(*loaded(assigned, scene))
    own = words[at : at + (model.wraps or 0)]
    rest = words[at + len(own) :]
    if name in ("time", "coproc") and "{" in [word.text for word in rest[:2]]:
        rest = rest[[word.text for word in rest].index("{") + 1 :]
    if name in ("timeout", "flock") and rest and rest[0].text == "-c":
        judge.inner_text(rest[1] if len(rest) > 1 else Word(""), scene)
        return
    if not rest or (name == "command" and {"-v", "-V"}.intersection(w.text for w in words[:at])):
        return
    if name in ASSIGNS and "=" in rest[0].text and ASSIGNMENT.fullmatch(rest[0].text):
        return
    inside = scene.inner()
    if inside.depth > MOST_WRAPPERS:
        judge.add(Effect("is too long or too nested to be judged"))
        return
    inside.variables.update(assigned)
    for option in ("-C", "--chdir", "-D"):
        value = Arguments(words[:at], model.values, long_dash=False).value(option)
        if name in ("env", "sudo") and value is not None:
            inside.enter(value.text)
    if name == "coproc":  # another command will write to it
        command = replace(command, upstream=command.upstream or Command([UNKNOWN_WORD], {}))
    judge.words(rest, replace(command, words=rest), inside)


UNKNOWN_WORD = Word("{", dynamic=True)
MOST_WRAPPERS = 24


def _joined(
    judge: Judge,
    skipped: int,
    model: Model,
    arguments: Arguments,
    command: Command,
    scene: Scene,
) -> None:
    words = list(arguments.words)
    at, _ = own_words(model, words, "")
    rest = words[at + skipped :] if skipped else words[at:]
    if rest:
        text = " ".join(word.text for word in rest)
        if model.code:
            judge.code(model.code, Word(text), scene)
            return
        dynamic = rest[0].dynamic or (len(rest) == 1 and rest[0].dynamic)
        if dynamic:
            judge.add(UNSEEN)
        if any(word.computed for word in rest):
            judge.add(Effect("runs text that another command made", kind="unseen"))
        judge.text(text, scene.inner(), source_of(command))
    elif model.stdin:
        standard_input(judge, model.stdin, command, scene)


def source_of(command: Command) -> Command | None:
    """What writes to its standard input, as if it were a command before it."""
    if any(each.operator.startswith("<") for each in command.redirections):
        return Command([Word("cat")], {}, command.redirections)
    return command.upstream


def standard_input(judge: Judge, language: str, command: Command, scene: Scene) -> None:
    """Judge code that a program reads from its standard input."""
    for redirection in reversed(command.redirections):
        if redirection.operator == "<&" and redirection.target.text != "0":
            judge.add(UNSEEN)
        if redirection.operator == "<":
            if redirection.target.dynamic or scene.path(redirection.target.text) in scene.written:
                judge.add(UNSEEN)
            elif language == "sql":
                judge.add(Effect(f"runs the statements in {redirection.target}", kind="database"))
            return  # a script file, as if it were named
    text = command.standard_input()
    if text is not None:
        judge.code(language, text, scene)
    elif command.piped:
        judge.add(UNSEEN)


def _interpreted(
    judge: Judge,
    name: str,
    model: Model,
    arguments: Arguments,
    command: Command,
    scene: Scene,
) -> None:
    """Of an interpreter: code in its options, a module, a script, or standard input."""
    if model.code == "python" and (words := _module(arguments)):
        _run_module(judge, words, command, scene)
        return
    texts = inline_code(model, arguments)
    for text in texts:
        judge.code(model.code, text, scene)
    if texts and model.code != "sql":
        return
    scripts = [] if model.first_is_code else arguments.operands
    if scripts and scripts[0].text not in STDIN_FILES and model.code != "sql":
        if not model.has_commands:  # which its first word is one of, and no file
            _script(judge, model, scripts, command, scene)
        return
    if model.stdin and not texts and not _only_asks(arguments, name):
        standard_input(judge, model.stdin, command, scene)


def _only_asks(arguments: Arguments, name: str) -> bool:
    asks = WITHOUT_RUNNING - ({"-v", "-n", "-l", "-h"} if name not in SHELL_CHECKS else set())
    return any(word.text in asks for word in arguments.words)


SHELL_CHECKS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))


INLINE = re.compile(r"-[bBdEhiIOqsSuvVxP]*c")


def _module(arguments: Arguments) -> list[Word]:
    """``-m MODULE ...`` as words, if it is that."""
    words = list(arguments.words)
    for at, word in enumerate(words):
        if match := re.fullmatch(r"-[bBdEhiIOqsSuvVxP]*m([\w.]*)", word.text):
            name = [Word(match.group(1))] if match.group(1) else []
            return [*name, *words[at + 1 :]]
        if not word.text.startswith("-") or INLINE.match(word.text):
            break
    return []


def _run_module(judge: Judge, words: list[Word], command: Command, scene: Scene) -> None:
    name = words[0].text
    for each in (name, name.partition(".")[0]):
        if model_of(each) is not None:
            words = [words[0]._replace(text=each), *words[1:]]
            break
    judge.words(words, replace(command, words=words, redirections=()), scene)


def _script(judge: Judge, model: Model, words: list[Word], command: Command, scene: Scene) -> None:
    """A script file: the project's own code, unless it was just made or comes from elsewhere."""
    script = words[0]
    written = scene.path(script.text) in scene.written
    hidden = "<(" in script.text or script.text.startswith(("/dev/", "/proc/", "http"))
    if written or hidden or (script.dynamic and model.code == "shell"):
        judge.add(UNSEEN)
        return
    name = program_name(script.text)
    if model.code != "shell" and model_of(name) is not None:
        judge.words([Word(name), *words[1:]], replace(command, redirections=()), scene)
    elif name in ("manage.py", "setup.py") and model_of(name):
        judge.words([Word(name), *words[1:]], command, scene)


def inline_code(model: Model, arguments: Arguments) -> list[Word]:
    """The words that are code."""
    texts = [
        value
        for option in model.code_options
        for name, value in arguments.options
        if name == option and value is not None
    ]
    if not texts and model.first_is_code:
        skipped = any(map(arguments.has_exactly, ("-f", "--file", "--from-file")))
        if model.code == "sql":
            return arguments.operands[1:]
        return [] if skipped else arguments.operands[:1]
    return texts


def shell_options(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """``bash -c TEXT``: the text is the first word behind all options, wherever ``c`` stands."""
    words = list(arguments.words)
    has_text = False
    at = 0
    while at < len(words) and words[at].text[:1] in ("-", "+") and len(words[at].text) > 1:
        text = words[at].text
        if words[at].dynamic:
            judge.add(Effect(f"gives a shell the option {text}, which is not known", kind="unseen"))
        at += 1
        if text == "--":
            break
        if text.startswith("--"):
            at += text in ("--rcfile", "--init-file")
            continue
        has_text |= "c" in text[1:] and text[0] == "-"
        at += text[-1] in "oO"
    rest = words[at:]
    if has_text:
        if rest:
            inside = scene.inner()
            inside.positional = rest[2:]
            for number, word in enumerate(rest[1:], 0):
                inside.variables[str(number)] = word
            if re.match(r"\s*[\"']?[$`]", rest[0].text) and rest[0].dynamic:
                judge.add(UNSEEN)
            elif rest[0].dynamic:
                judge.add(Effect("runs text that is known only in part", kind="unseen"))
            judge.inner_text(rest[0]._replace(dynamic=False), inside, source_of(command))
        return
    if rest and rest[0].text not in STDIN_FILES and not arguments.has_exactly("-s"):
        shell = model_of("bash")
        assert shell is not None
        _script(judge, shell, rest, command, scene)
    elif not _only_asks(arguments, "bash"):
        standard_input(judge, "shell", command, scene)


Check = Callable[["Judge", Arguments, Command, Scene], None]
