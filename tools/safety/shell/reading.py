"""Read a text with the parsers that there are."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from tools.safety.shell import syntax
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
    body, understood = parsed(text)
    if not understood and TEST.search(text):  # of which tree-sitter knows only a part
        plain, understood = parsed(TEST.sub(r"\\[", text))
        body = plain if understood else body
    if not understood and (second := read_by_shfmt(text)) is not None:
        return Program(second)
    return Program(body, "" if understood else "it is no complete shell text")
