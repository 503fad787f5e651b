"""A quick way to read plain command lines: words, quotes without expansions, ``|``, ``&&``, ``;``.

Most of what is run looks like this. What it cannot read, or is not sure of, it leaves to the
parser; what it reads, it reads as the parser would.
"""

from __future__ import annotations

import re

from tools.safety.shell import syntax

_TOKEN = re.compile(
    r"[ \t]*(?:([A-Za-z0-9_./:,@%+=^*?~-]++)(?=[ \t\n|;&]|$)"
    r"|((?:[A-Za-z0-9_./:,@%+=^*?~-]++|'[^']*'|\"[^\"$`\\]*\")++)(?=[ \t\n|;&]|$)"
    r"|(&&|\|\|?(?![&|])|;(?![;&])|\n))"
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
    parts: list[tuple[syntax.Node, str]] = []
    stages: list[syntax.Node] = []
    words: list[syntax.WordSyntax] = []
    commands: dict[tuple[syntax.WordSyntax, ...], syntax.Simple] = {}
    """Equal ones are the same object, which is judged once."""
    at, end = 0, len(text.rstrip(" \t\n"))
    match = _TOKEN.match
    while at < end:
        found = match(text, at)
        if found is None:
            return None
        at = found.end()
        number = found.lastindex
        if number == 1:
            words.append(found.group(1))
            continue
        if number == 2:
            words.append(_unquoted(found.group(2)))
            continue
        operator = found.group(3)
        if not words:
            if operator == "\n" and not stages:
                continue
            return None
        if not _is_command(words[0]):
            return None
        written = tuple(words)
        stages.append(commands.setdefault(written, syntax.Simple(written)))
        words = []
        if operator != "|":
            parts.append((_pipeline(stages), ";" if operator == "\n" else operator))
            stages = []
    if words:
        if not _is_command(words[0]):
            return None
        written = tuple(words)
        stages.append(commands.get(written) or syntax.Simple(written))
        if not parts:
            return _pipeline(stages)
        parts.append((_pipeline(stages), ""))
    elif stages or (parts and parts[-1][1] in ("&&", "||")):
        return None
    return syntax.Sequence(tuple(parts))


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
