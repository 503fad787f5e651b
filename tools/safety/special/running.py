"""Programs that run others once for each thing they find or are given."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.forbidden import DELETERS
from tools.safety.launching import UNSEEN, Check, own_words, standard_input
from tools.safety.models import model_of
from tools.safety.places import is_vital
from tools.safety.scene import Scene, program_name
from tools.safety.shell.runner import commands_of
from tools.safety.shell.values import Command, Unreadable, Word

if TYPE_CHECKING:
    from tools.safety.judge import Judge

UNKNOWN_ITEM = Word("…", dynamic=True)
FIND_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
MOST_ACTIONS = 20
FD_ACTIONS = frozenset(("-x", "-X", "--exec", "--exec-batch"))
LOOKS_IN_GDB = re.compile(
    r"(?:bt|backtrace|where|frame|up|down|quit|q|list|run|r|start|disas\w*|thread apply all bt)"
    r"(?: full| \d+)?|info [\w ]+|(?:p|print|x)(?:/\w+)? [\w.$>*&-]+"
    r"|set (?:pagination|confirm|width|height) \w+"
)
STEPS = re.compile(
    r"\s*(?:c|cont|continue|n|next|s|step|r|return|w|where|bt|u|up|d|down|q|quit|exit|l|ll|list|args?|a"
    r"|(?:b|break|tbreak|until|unt|p|pp|whatis|list|l) [\w.:, ]+)\s*"
)
"""What only moves about in pdb."""
FIELDS_OF_CRON = re.compile(r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(?P<text>.*)")
NAMED = frozenset(("-name", "-iname", "-path", "-ipath"))


def _find(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    if sum(word.text in FIND_ACTIONS for word in words) > MOST_ACTIONS:
        judge.add(Effect("runs too many programs to be judged"))
        return
    starts = [w for w in words if not w.text.startswith("-")][:1]
    for at, word in enumerate(words):
        if word.text in FIND_ACTIONS:
            rest = words[at + 1 :]
            end = next((n for n, w in enumerate(rest) if w.text in (";", "+")), len(rest))
            named = next((b.text for a, b in itertools.pairwise(words) if a.text in NAMED), "…")
            found = [_found(w, starts[0].text if starts else ".", named) for w in rest[:end]]
            if found:
                judge.words(found, Command(found, {}), scene.inner())


def _found(word: Word, root: str, name: str) -> Word:
    if "{}" not in word.text:
        return word
    base = root.rstrip("/") or ""
    return word._replace(text=word.text.replace("{}", f"{base}/{name}"), dynamic=False)


def _fd(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    for at, word in enumerate(words):
        action, _, program = word.text.partition("=")
        if action in FD_ACTIONS:
            rest = [*([Word(program)] if program else []), *words[at + 1 :]]
            end = next((n for n, w in enumerate(rest) if w.text == ";"), len(rest))
            if rest[:end]:
                judge.words(rest[:end], Command(rest[:end], {}), scene.inner())


def _xargs(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    model = model_of("xargs")
    assert model is not None
    at, _ = own_words(model, words, "xargs")
    own = Arguments(words[:at], model.values, long_dash=False)
    rest = words[at:] or [Word("echo")]
    items = _given_items(command, own.value("-a") or own.value("--arg-file"))
    if program_name(rest[0].text) in DELETERS:
        vital = next((item for item in items if is_vital(item.text, scene)), None)
        if vital is not None and items[0] is vital and command.upstream is not None:
            _judge_all_of_find(judge, vital, command)
    mark = own.value("-I") or own.value("--replace") or own.value("-i")
    inner = _replaced(rest, mark.text, items[0]) if mark is not None else [*rest, *items]
    if _runs_items(inner, items[0], appended=mark is None):
        judge.add(UNSEEN)
    judge.words(inner, Command(inner, {}), scene.inner())


def _printed_by(file: Word) -> Word | None:
    """What ``<(...)`` gives to read, if that is plain."""
    if not file.text.startswith("<("):
        return None
    try:
        commands = commands_of(file.text[2:-1])
    except Unreadable:
        return None
    output = commands[0].output() if len(commands) == 1 else None
    return None if output is None else Word(output)


def _given_items(command: Command, file: Word | None = None) -> list[Word]:
    """The words on its standard input or in its file, as far as they are known."""
    given, source = command.standard_input(), command.upstream
    if file is not None:
        given, source = _printed_by(file), None
    if given is not None and not given.dynamic:
        return [Word(text) for text in re.split(r"[\s\0]+", given.text)[:20] if text] or [Word("")]
    if source is not None and source.words and program_name(source.words[0].text) == "find":
        return _all_of_find(source) or [UNKNOWN_ITEM]
    return [UNKNOWN_ITEM]


def _judge_all_of_find(judge: Judge, vital: Word, command: Command) -> None:
    """Deleting, one by one, all that a ``find`` sees of a folder that nobody may delete."""
    assert command.upstream is not None
    if program_name(command.upstream.words[0].text) == "find":
        reason = f"deletes everything in {vital}"
        judge.add(Effect(reason, True, "deletes", (vital.text,), "vital"))


def _replaced(words: list[Word], mark: str, item: Word) -> list[Word]:
    return [
        word._replace(text=word.text.replace(mark, item.text), dynamic=word.dynamic or item.dynamic)
        if mark in word.text
        else word
        for word in words
    ]


def _runs_items(words: list[Word], item: Word, *, appended: bool) -> bool:
    """Are the items that were read code, or scripts nobody has seen?"""
    model = model_of(program_name(words[0].text))
    if model is None or not model.code:
        return False
    if model.code == "shell":
        if any(word.text.startswith("-") and word.text.endswith("c") for word in words[1:2]):
            return item.dynamic and len(words) < 4
        return not any(w.text.startswith("-") and w.text.endswith("c") for w in words[1:])
    is_code = len(words) == 2 or words[-2].text in model.code_options
    return item.dynamic and appended and is_code


def _all_of_find(source: Command) -> list[Word]:
    """The folders of a ``find`` that leaves nothing out."""
    words = source.words[1:]
    tests = [w.text for w in words if w.text.startswith("-")]
    if set(tests) - {"-print0", "-print", "-type", "-depth", "-xdev"}:
        return []
    return [w for w in words if not w.text.startswith("-")][:1]


def _parallel(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    model = model_of("parallel")
    assert model is not None
    at, _ = own_words(model, words, "parallel")
    rest = words[at:]
    end = next((n for n, w in enumerate(rest) if w.text in (":::", "::::", ":::+")), len(rest))
    given = [w for w in rest[end + 1 :] if not w.text.startswith(":::")]
    if not rest[:end]:
        standard_input(judge, "shell", command, scene)
        for word in given:
            judge.inner_text(word, scene)
        return
    text = " ".join(w.text for w in rest[:end])
    for item in given[:16] or [Word("…")]:
        shown = text.replace("{}", item.text) if "{}" in text else f"{text} {item.text}"
        judge.text(shown, scene.inner())


def _sem(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    model = model_of("sem")
    assert model is not None
    at, _ = own_words(model, list(arguments.words), "sem")
    judge.text(" ".join(word.text for word in arguments.words[at:]), scene.inner())


def _make(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for name, value in arguments.options:
        if (
            name in ("-f", "--file", "--makefile")
            and value is not None
            and value.text in ("-", "/dev/stdin")
        ):
            judge.add(Effect("runs a makefile that is not in the project", kind="unseen"))
            for line in (command.standard_input() or Word("")).text.splitlines():
                _, recipe, text = line.partition("\t" if line.startswith("\t") else ";")
                if recipe:
                    judge.text(text, scene.inner())
        if name == "--eval":
            judge.add(Effect("runs a makefile in its arguments", kind="runs"))
    for word in arguments.operands:
        variable, equals, text = word.text.partition("=")
        if equals and (variable == "SHELL" or "$(shell" in text or "`" in text):
            judge.add(Effect(f"runs make with {word}", kind="runs"))


def _at(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    if any(map(arguments.has_exactly, ("-l", "-c"))):
        return
    judge.add(Effect("starts something later", kind="persistence"))
    text = command.standard_input()
    if text is not None:
        judge.inner_text(text, scene)


def _tmux(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    texts = [w.text for w in arguments.words]
    for each in (
        "send-keys",
        "send",
        "new-session",
        "new",
        "new-window",
        "neww",
        "run-shell",
        "run",
        "split-window",
        "stuff",
        "if-shell",
        "pipe-pane",
        "respawn-pane",
    ):
        if each in texts:
            rest = arguments.words[texts.index(each) + 1 :]
            for word in rest:
                if " " in word.text or each == "stuff":
                    judge.text(word.text.removesuffix("\\n"), scene.inner())


def _screen(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    _tmux(judge, arguments, command, scene)
    model = model_of("screen")
    assert model is not None
    at, _ = own_words(model, list(arguments.words), "screen")
    rest = list(arguments.words[at:])
    if rest and not arguments.has_exactly("-X"):
        judge.words(rest, Command(rest, {}), scene.inner())


def _crontab(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    texts = [w.text for w in arguments.words]
    if "-l" not in texts:
        judge.add(Effect("changes scheduled jobs", kind="persistence"))
    given = command.standard_input()
    for line in given.text.splitlines() if given is not None else ():
        if match := FIELDS_OF_CRON.match(line):
            judge.text(match.group("text"), scene.inner())


def _bq(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    first, *rest = arguments.operands or [Word("")]
    for word in rest if first.text == "query" else ():
        judge.code("sql", word, scene)


def _gdb(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for name, value in arguments.options:
        if name in ("-ex", "-iex", "-eval-command", "--eval-command") and value is not None:
            if not LOOKS_IN_GDB.fullmatch(value.text):
                judge.add(Effect(f"runs {value}", kind="runs"))
        elif name in ("-x", "-ix", "--command") and value is not None:
            judge.add(Effect(f"runs {value}", kind="runs"))


def _pdb(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for name, value in arguments.options:
        if name in ("-c", "--command") and value is not None and not STEPS.fullmatch(value.text):
            judge.code("python", value._replace(text=value.text.strip().lstrip("!")), scene)


def _starts_with(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """``less +!command``, ``vi +command``: what a pager or editor does first."""
    for word in arguments.words:
        if word.text.startswith("+") and "!" in word.text:
            judge.add(Effect(f"runs {word}", kind="runs"))
            judge.text(word.text.partition("!")[2], scene.inner())
        elif word.text.startswith("+") and command.words[0].text not in ("less", "more", "most"):
            judge.code("editor", word._replace(text=word.text[1:]), scene)


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("less", "more", "most", "vi", "vim", "nvim", "view"), _starts_with),
    **dict.fromkeys(("find", "gfind"), _find),
    **dict.fromkeys(("fd", "fdfind"), _fd),
    "xargs": _xargs,
    "parallel": _parallel,
    "sem": _sem,
    **dict.fromkeys(("make", "gmake"), _make),
    "bq": _bq,
    "crontab": _crontab,
    **dict.fromkeys(("gdb", "lldb"), _gdb),
    **dict.fromkeys(("pdb", "pdb3", "ipdb"), _pdb),
    **dict.fromkeys(("at", "batch"), _at),
    "tmux": _tmux,
    "screen": _screen,
}
