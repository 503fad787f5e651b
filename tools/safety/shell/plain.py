"""A quick way to read plain command lines: words, quotes without expansions, ``|``, ``&&``, ``;``.

Most of what is run looks like this. What it cannot read, or is not sure of, it leaves to the
parser; what it reads, it reads as the parser would.
"""

from __future__ import annotations

import re

from tools.safety.shell import syntax

_OPERATOR = re.compile(r"'[^']*'|\"[^\"$`\\]*\"|&&|\|\|?|;|\n")
"""Or a quoted text. Each begins with a letter of its own, which makes the search a fast one."""
_WORD = re.compile(
    r"[ \t]*(?:([A-Za-z0-9_./:,@%+=^*?~-]++)(?=[ \t]|$)"
    r"|((?:[A-Za-z0-9_./:,@%+=^*?~-]++|'[^']*'|\"[^\"$`\\]*\")++)(?=[ \t]|$))"
)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|([^'\"]+)")
LONGEST = 20_000
RESERVED = frozenset((
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "function", "select", "time", "coproc", "export", "declare", "typeset", "local", "readonly",
    "unset", "unsetenv",
))  # fmt: skip
"""Words that, in the place of a command, are none, or that the parser treats in their own way."""


def plain_program(text: str) -> syntax.Node | None:
    """The program, if it is as plain as that."""
    if len(text) > LONGEST:
        return None
    text = text.rstrip(" \t\n")
    commands: dict[str, syntax.Simple | None] = {}
    """Equal ones are the same object, which is judged once."""
    parts: list[tuple[syntax.Node, str]] = []
    stages: list[syntax.Node] = []
    start = 0
    for found in _OPERATOR.finditer(text):
        operator = found.group()
        if operator[0] in "'\"":
            continue
        piece, start = text[start : found.start()], found.end()
        command = commands[piece] if piece in commands else _new_command(piece, commands)
        if command is None:
            if operator == "\n" and not stages and not piece.strip(" \t"):
                continue
            return None
        stages.append(command)
        if operator != "|":
            parts.append((_pipeline(stages), ";" if operator == "\n" else operator))
            stages = []
    last = text[start:]
    command = commands[last] if last in commands else _new_command(last, commands)
    if command is not None:
        stages.append(command)
        if not parts:
            return _pipeline(stages)
        parts.append((_pipeline(stages), ""))
    elif last.strip(" \t") or stages or (parts and parts[-1][1] in ("&&", "||")):
        return None
    return syntax.Sequence(tuple(parts))


def _new_command(piece: str, commands: dict[str, syntax.Simple | None]) -> syntax.Simple | None:
    """The command in a piece of text, if it is nothing but plain words."""
    words: list[syntax.WordSyntax] = []
    at, end = 0, len(piece.rstrip(" \t"))
    while at < end:
        found = _WORD.match(piece, at)
        if found is None:
            break
        at = found.end()
        plain, quoted = found.groups()
        words.append(plain if quoted is None else _unquoted(quoted))
    is_command = at >= end and words and _is_command(words[0])
    command = commands[piece] = syntax.Simple(tuple(words)) if is_command else None
    return command


def _is_command(word: syntax.WordSyntax) -> bool:
    if isinstance(word, str):
        return "=" not in word and word not in RESERVED
    if any(isinstance(part, syntax.Literal) and part.text in RESERVED for part in word):
        return False  # which the parser cuts off
    return not any("=" in part.text for part in word if isinstance(part, syntax.Literal))


def _unquoted(text: str) -> syntax.WordSyntax:
    if "'" not in text and '"' not in text:
        return text
    return tuple(
        syntax.Literal(single or double or plain, not plain)
        for single, double, plain in _QUOTED.findall(text)
    )


def _pipeline(stages: list[syntax.Node]) -> syntax.Node:
    return stages[0] if len(stages) == 1 else syntax.Pipeline(tuple(stages))
