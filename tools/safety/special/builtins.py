"""The shell's own commands, and the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.launching import UNSEEN, Check, own_words, standard_input
from tools.safety.models import model_of
from tools.safety.scene import Scene
from tools.safety.shell.values import Command, Word
from tools.safety.variables import loaded, shown

if TYPE_CHECKING:
    from tools.safety.judge import Judge


def _env(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    model = model_of("env")
    assert model is not None
    at, _ = own_words(model, words, "env")
    for option in ("-S", "--split-string"):
        for name, value in arguments.options:
            if name == option and value is not None:
                rest = " ".join([value.text, *(w.text for w in words[at:])])
                judge.text(rest, scene.inner())
                return
    if not words[at:] and not arguments.has_exactly("-i"):
        judge.add(Effect("shows the whole environment, which may hold secrets", kind="secrets"))


def _shell_state(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """``set``, ``export``, ``declare``: without names they show all variables."""
    name = command.words[0].text
    shows = ("-p", "-x", "-px", "-xp") if name != "set" else ()
    plain = [w for w in arguments.words if w.text not in shows]
    if not plain and not command.assignments:
        judge.add(Effect("shows the whole environment, which may hold secrets", kind="secrets"))
    if name != "set":
        pairs = (w.text.partition("=") for w in arguments.operands if "=" in w.text)
        judge.add(*loaded({key: Word(value) for key, _, value in pairs}, scene))


def _eval(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    if any(w.dynamic for w in arguments.words):
        judge.add(UNSEEN)
        judge.text(" ".join(w.text for w in arguments.words), scene.inner())
    elif any(w.computed for w in arguments.words):
        judge.add(Effect("runs text that another command made", kind="unseen"))


def _source(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for word in arguments.words[:1]:
        path = scene.path(word.text)
        if word.text in ("/dev/stdin", "/dev/fd/0"):
            standard_input(judge, "shell", command, scene)
        elif word.dynamic or word.text.startswith(("/dev/", "/proc/")) or path in scene.written:
            judge.add(UNSEEN)


def _later(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """``alias`` and ``trap``, whose text runs at another time."""
    words = arguments.operands
    if command.words[0].text == "trap":
        words = words[:1] if len(words) > 1 else []
    for word in words:
        text = word.text.partition("=")[2] if command.words[0].text == "alias" else word.text
        judge.inner_text(word._replace(text=text), scene)


def _printenv(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for word in arguments.operands:
        judge.add(*shown("printenv", Word(f"${word}", dynamic=True)))


CHECKS: dict[str, Check] = {
    "env": _env,
    **dict.fromkeys(("set", "export", "declare", "typeset", "readonly", "local"), _shell_state),
    "eval": _eval,
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("alias", "trap"), _later),
    "printenv": _printenv,
}
