"""What the shell's own commands change for those that come after them."""

from __future__ import annotations

import re
from collections.abc import Callable

from tools.safety.scene import Scene
from tools.safety.shell.values import Command, Word

NAME_OF = re.compile(r"-\w*n\w*")
"""``declare -n``: the variable stands for another."""
TRANSPARENT = frozenset(("command", "builtin"))


def meant(words: list[Word]) -> list[Word]:
    """Without ``command`` and ``builtin`` before them."""
    while len(words) > 1 and words[0].text in TRANSPARENT and not words[1].text.startswith("-"):
        words = words[1:]
    return words


def changes(command: Command, scene: Scene) -> bool:
    """May it change the shell it runs in?"""
    words = meant(command.words)
    name = words[0].text if words else ""
    return not words or name in CHANGES or name in scene.functions or name == "eval"


def apply(command: Command, scene: Scene) -> None:
    """Change the scene as the command would."""
    words = meant(command.words)
    change = CHANGES.get(words[0].text)
    if change is not None:
        change(command, words[1:], scene)


def _change_folder(command: Command, words: list[Word], scene: Scene) -> None:
    target = next((word for word in words if not word.text.startswith("-")), None)
    if target is None:
        if not words:
            scene.enter("~")
        return
    if not target.dynamic:
        scene.enter(target.text)
    else:
        scene.variables.pop("PWD", None)
        scene.cwd = scene.path(target.text)


def _set(command: Command, words: list[Word], scene: Scene) -> None:
    texts = [word.text for word in words]
    if "--" in texts:
        given = words[texts.index("--") + 1 :]
    elif texts and not texts[0].startswith(("-", "+")):
        given = words
    else:
        return
    scene.positional = given
    for number, word in enumerate(given[:9], 1):
        scene.variables[str(number)] = word


def _shift(command: Command, words: list[Word], scene: Scene) -> None:
    if scene.positional is not None:
        _set(command, [Word("--"), *scene.positional[1:]], scene)


def _forget(command: Command, words: list[Word], scene: Scene) -> None:
    for word in words:
        name = word.text.partition("=")[0]
        scene.variables.pop(name, None)
        scene.arrays.pop(name, None)
        scene.functions.pop(name, None)


def _read(command: Command, words: list[Word], scene: Scene) -> None:
    _forget(command, words, scene)
    names = [word.text for word in words if not word.text.startswith("-")]
    text = command.standard_input()
    if text is not None and not text.dynamic and len(names) == 1:
        scene.variables[names[0]] = Word(text.text.strip(), computed=True)


def _print(command: Command, words: list[Word], scene: Scene) -> None:
    if len(words) > 2 and words[0].text == "-v":
        rest = Command([Word("printf"), *words[2:]], {}).output()
        _forget(command, words[1:2], scene)
        if rest is not None:
            scene.variables[words[1].text] = Word(rest, computed=True)


def _declare(command: Command, words: list[Word], scene: Scene) -> None:
    is_name = any(NAME_OF.fullmatch(word.text) for word in words)
    for word in words:
        name, equals, value = word.text.partition("=")
        if equals:
            known = word._replace(text=value)
            scene.variables[name] = Word(f"${name}", dynamic=True) if is_name else known


def _alias(command: Command, words: list[Word], scene: Scene) -> None:
    for word in words:
        name, equals, text = word.text.partition("=")
        if equals and not word.dynamic:
            scene.aliases[name] = text


def _unalias(command: Command, words: list[Word], scene: Scene) -> None:
    for word in words:
        scene.aliases.pop(word.text, None)


CHANGES: dict[str, Callable[[Command, list[Word], Scene], None]] = {
    "cd": _change_folder,
    "pushd": _change_folder,
    "set": _set,
    "shift": _shift,
    "unset": _forget,
    "read": _read,
    "mapfile": _forget,
    "readarray": _forget,
    "getopts": _forget,
    "let": _forget,
    "printf": _print,
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declare),
    "alias": _alias,
    "unalias": _unalias,
}
"""Commands that change the shell they run in."""
