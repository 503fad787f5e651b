"""The grammar of the shell as values: what the parsers agree on, before anything is expanded.

What may contain a thing of its own kind is a dataclass: mypy compares named tuples item by item,
which takes minutes for tuples that refer to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Literal(NamedTuple):
    """Text of a word; ``quoted`` text is neither split nor a pattern."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """``$name`` or ``${name operator argument}``."""

    written: str
    name: str
    operator: str = ""
    arguments: tuple[WordSyntax, ...] = ()
    element: str = ""
    """The index, of an element of an array."""
    quoted: bool = False
    inside: tuple[Substitution, ...] = ()
    """Of an index."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """``$(...)``, ``<(...)`` or ``>(...)``."""

    written: str
    body: Node
    opening: str = "$("
    quoted: bool = False


class Unknown(NamedTuple):
    """Arithmetic and the like: only what it runs matters."""

    written: str
    inside: tuple[Substitution, ...] = ()


Part = Literal | Parameter | Substitution | Unknown
WordSyntax = str | tuple[Part, ...]
"""A plain word without quotes is its text."""


class Assignment(NamedTuple):
    name: str
    value: WordSyntax
    items: tuple[WordSyntax, ...] | None = None
    """Of an array."""
    append: bool = False
    indexed: bool = False


class Redirect(NamedTuple):
    operator: str
    target: WordSyntax
    descriptor: str = ""


class Simple(NamedTuple):
    """A command; a declaration such as ``export X=1`` is one with assignments behind its words."""

    words: tuple[WordSyntax, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    declares: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    stages: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts, each with the operator behind it."""

    parts: tuple[tuple[Node, str], ...]


@dataclass(frozen=True, slots=True)
class Redirected:
    body: Node
    redirects: tuple[Redirect, ...]


@dataclass(frozen=True, slots=True)
class Subshell:
    body: Node


@dataclass(frozen=True, slots=True)
class Branch:
    """Parts of which each may run or not, after what decides it."""

    first: tuple[Node, ...]
    maybe: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """``for variable in values``; without a variable a ``while``."""

    variable: str
    values: tuple[WordSyntax, ...]
    condition: Node | None
    body: Node


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    body: Node


class Test(NamedTuple):
    """``[[ ]]``, ``(( ))``: only what it runs matters."""

    inside: tuple[Substitution, ...]
    name: str = ""


Node = Simple | Pipeline | Sequence | Redirected | Subshell | Branch | Loop | Function | Test
NOTHING = Sequence(())


def parts_of(word: WordSyntax) -> tuple[Part, ...]:
    return (Literal(word, False),) if isinstance(word, str) else word
