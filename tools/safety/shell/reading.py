"""Read a text with the parsers that there are."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from tools.safety.shell import syntax
from tools.safety.shell.continued import joined
from tools.safety.shell.plain import plain_program
from tools.safety.shell.second_opinion import read_by_shfmt
from tools.safety.shell.tree import parsed
from tools.safety.shell.values import Unreadable

LONGEST = 40_000
TEST = re.compile(r"(?:(?<=^)|(?<=[;&|!(\s]))\[(?=\s)", re.MULTILINE)


class Program(NamedTuple):
    """A text that was read; ``doubt`` says why its meaning is not certain."""

    body: syntax.Node
    doubt: str = ""


BEGINS_ESCAPED = re.compile(r"((?<!\\)(?:\\\\)*\n)(?=\\[^\n])")
FEW_LINES = 8
FIRST_OF_SEVERAL = re.compile(
    r"\s*(?:for|while|until|if|case|select|function|time|coproc|!|\{|\(|\[\[)(?![\w./-])|.*\(\s*\)"
)
LAST_OF_SEVERAL = re.compile(r".*(?:\b(?:done|fi|esac)|[})]|\]\])[;&\s]*", re.DOTALL)


@functools.lru_cache(maxsize=256)
def read_program(text: str) -> Program:
    """The program in a text.

    Raises
    ------
    Unreadable
        If it is too long or nested too deeply.
    """
    if len(text) > LONGEST:
        raise Unreadable("it is too long")
    text = text.replace("\0", "")  # which bash leaves out, and tree-sitter takes for an end
    plain_body = plain_program(text)
    if plain_body is not None:
        return Program(plain_body)
    is_sure = True
    if "\\\n" in text:
        text, is_sure = joined(text)
    if "\n\\" in text:  # which tree-sitter takes for one blank, and `\rm` for an argument
        text = BEGINS_ESCAPED.sub(r"\1 ", text)
    by_lines = _by_lines(text)
    if by_lines is not None:
        return Program(by_lines)
    body, understood = parsed(text)
    understood = understood and is_sure
    if not understood and TEST.search(text):  # of which tree-sitter knows only a part
        plain, understood = parsed(TEST.sub(r"\\[", text))
        body = plain if understood else body
    if not understood and (second := read_by_shfmt(text)) is not None:
        return Program(second)
    return Program(body, "" if understood else "it is no complete shell text")


def _by_lines(text: str) -> syntax.Node | None:
    """The program, if most of its lines are equal to others and each is a statement of its own."""
    lines = text.split("\n")
    if len(lines) < FEW_LINES:
        return None
    different = dict.fromkeys(lines)
    if 2 * len(different) > len(lines) or "<<" in text or "\\\n" in text:
        return None
    parts: dict[str, syntax.Node] = {}
    for line in filter(str.strip, different):
        if FIRST_OF_SEVERAL.match(line) and not LAST_OF_SEVERAL.fullmatch(line):
            return None
        program = read_program(line)
        if program.doubt:
            return None
        parts[line] = program.body
    return syntax.Sequence(tuple((parts[line], ";") for line in lines if line in parts))
