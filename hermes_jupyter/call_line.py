"""``%hermes call NAME ...``: one tool and its arguments, as a person types them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

HOW = 'write {"name": value}, or name=value other="some text"'

_FLAGS = ("--background", "--plain")
_VALUED = ("--approve", "--output", "--session", "--tools", "-o", "-t")
_OPTION = re.compile(
    rf"(?:(?:{'|'.join(_FLAGS)})(?!\S)|(?:{'|'.join(_VALUED)})(?:=|\s+)[^\s=-]\S*)\s*"
)
_JSON_START = re.compile(r"[{\[`]|['\"]\s*\{")
_WORD = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)=")
_QUOTED = re.compile(r"'(?P<raw>[^']*)'|\"(?P<escaped>(?:[^\"\\]|\\.)*)\"")
_BARE = re.compile(r"[^\s'\"]\S*|(?=\s|\Z)")


class UnclearArgumentsError(ValueError):
    """What follows the tool's name cannot be read."""


@dataclass(frozen=True, slots=True)
class CallLine:
    """A line that asks for a call; the arguments are not read yet."""

    options: str
    """Those of ``%%agent`` that a call knows, as they stand."""
    name: str
    rest: str

    @property
    def has_arguments(self) -> bool:
        """Does something follow that looks like arguments, and not like prose?"""
        return bool(_JSON_START.match(self.rest) or _WORD.match(self.rest))

    def arguments(self) -> str:
        """The arguments as a model would write them; JSON text is left as it is.

        Raises
        ------
        UnclearArgumentsError
            For words that are no ``name=value``.
        """
        if self.rest and not self.has_arguments:
            raise UnclearArgumentsError(f"{self.rest[:40]!r} are no arguments: {HOW}")
        if not _WORD.match(self.rest):
            return self.rest
        return json.dumps(values_of(self.rest), ensure_ascii=False)


def parse(line: str) -> CallLine:
    """Split what stands after ``%hermes call``; the name is empty if there is none.

    Raises
    ------
    UnclearArgumentsError
        For an option that a call does not have.
    """
    line = line.strip()
    end = 0
    while option := _OPTION.match(line, end):
        end = option.end()
    options, line = line[:end].strip(), line[end:]
    if line.startswith("-"):
        known = ", ".join(each for each in (*_FLAGS, *_VALUED) if each.startswith("--"))
        raise UnclearArgumentsError(f"a call has no option {line.split()[0]!r}, only {known}")
    name = re.match(r"[^\s{\[`]*", line)
    assert name is not None
    return CallLine(options, name[0], line[name.end() :].strip())


def values_of(text: str) -> dict[str, Any]:
    """The values of ``key=value`` words, each read as JSON if it is JSON, else as text.

    Raises
    ------
    UnclearArgumentsError
    """
    values: dict[str, Any] = {}
    place = 0
    while place < len(text):
        word = _WORD.match(text, place)
        if word is None:
            raise UnclearArgumentsError(
                f"{text[place:].split()[0]!r} is no name=value; text with spaces needs quotes"
            )
        if word["key"] in values:
            raise UnclearArgumentsError(f"{word['key']!r} is given twice")
        values[word["key"]], end = _value(text, word.end())
        rest = text[end:].lstrip()
        if rest and not text[end].isspace():
            raise UnclearArgumentsError(f"a space is missing before {rest[:20]!r}")
        place = len(text) - len(rest)
    return values


def _value(text: str, start: int) -> tuple[Any, int]:
    """The value that begins there, and where it ends."""
    if text[start : start + 1] in {"{", "[", '"'}:
        try:
            return _JSON.raw_decode(text, start)
        except (ValueError, RecursionError):
            pass  # such as "\d+": text in quotes need not be JSON
    if quoted := _QUOTED.match(text, start):
        return quoted["raw"] if quoted["escaped"] is None else quoted["escaped"], quoted.end()
    bare = _BARE.match(text, start)
    if bare is None:
        raise UnclearArgumentsError(f"a quote is missing at the end of {text[start:][:40]!r}")
    try:
        return _JSON.decode(bare[0]), bare.end()
    except (ValueError, RecursionError):
        return bare[0], bare.end()


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


_JSON = json.JSONDecoder(parse_constant=_no_constant)
