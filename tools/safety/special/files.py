"""Programs that copy, pack and write files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.launching import Check
from tools.safety.places import is_persistent
from tools.safety.scene import Scene
from tools.safety.shell.values import Command, Word

if TYPE_CHECKING:
    from tools.safety.judge import Judge

PROGRAM_FILE = re.compile(r"(?:^|.*/)s?bin/[^/]+")


def _copy(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """A copy of a secret, or of a program under another name."""
    for word in arguments.operands[:-1]:
        if PROGRAM_FILE.fullmatch(scene.path(word.text)):
            judge.add(Effect(f"gives {word} another name", kind="unclear"))


def _link(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    _copy(judge, arguments, command, scene)
    for word in arguments.operands[-1:]:
        _lasting(judge, word, scene)


def _lasting(judge: Judge, word: Word, scene: Scene) -> None:
    path = scene.path(word.text)
    if is_persistent(path, scene.home):
        reason = f"changes {word}, which runs or configures other things"
        judge.add(Effect(reason, kind="persistence", targets=(path,)))


def _touch(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for word in arguments.operands:
        _lasting(judge, word, scene)


def _tee(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    appends = any(map(arguments.has_exactly, ("-a", "--append")))
    for word in arguments.operands:
        judge.writes(word, scene, appends=appends)


def _tar(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    first = words[0].text if words else ""
    letters = first.lstrip("-") if first[:2] != "--" else ""
    names = {name for name, _ in arguments.options}
    bundled = bool(first) and first[0] != "-"
    mode = letters if bundled else "".join(n[1:] for n in names if len(n) == 2)
    if "--extract" in names or "--get" in names or "x" in mode:
        keeps = names & {"-k", "--keep-old-files", "--skip-old-files", "-O", "--to-stdout"}
        if not keeps and "O" not in mode and "k" not in mode:
            folder = arguments.value("-C") or arguments.value("--directory")
            where = f"unpacks over {folder.text if folder else 'what is in this folder'}"
            target = scene.path(folder.text if folder else ".")
            judge.add(Effect(where, kind="writes", targets=(target,)))
    elif "--create" in names or "c" in mode or "r" in mode or "u" in mode:
        files = [w for w in words[1:2] if bundled and "f" in letters]
        file = arguments.value("-f") or arguments.value("--file") or next(iter(files), None)
        if file is not None and file.text != "-":
            judge.writes(file, scene)


def _dd(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for word in arguments.operands:
        if word.text.startswith("of="):
            judge.writes(word._replace(text=word.text[3:]), scene, what=f"writes raw data: {word}")


def _exiftool(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    if any(word.text[:1] == "-" and "=" in word.text for word in arguments.words):
        names = " ".join(word.text for word in arguments.operands)
        judge.add(Effect(f"changes {names} in place", kind="writes"))


def _pipe(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """What will come out of a named pipe, nobody has seen."""
    scene.written.update(scene.path(word.text) for word in arguments.operands)


def _ed(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    text = command.standard_input()
    if text is not None or command.piped:
        names = " ".join(w.text for w in arguments.operands)
        judge.add(Effect(f"edits {names}", kind="writes"))


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("cp", "install", "gcp"), _copy),
    "ln": _link,
    **dict.fromkeys(("touch", "mkdir"), _touch),
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _tar),
    "dd": _dd,
    "exiftool": _exiftool,
    **dict.fromkeys(("mkfifo", "mknod"), _pipe),
    **dict.fromkeys(("tee", "sponge"), _tee),
    **dict.fromkeys(("ed", "ex"), _ed),
}
