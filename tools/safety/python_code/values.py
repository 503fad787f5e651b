"""What a Python expression stands for, as far as its text tells.

Text that is known in part has *holes*: a mark with the name of what is missing, so that joining
and formatting go on around it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tools.safety.scene import Effect

MOST_ALTERNATIVES = 8
_HOLE = re.compile("\ue000(\\w*)\ue001")


@dataclass(frozen=True, slots=True)
class Unknown:
    """Known only when it runs."""

    name: str = ""
    """How the code calls it."""


@dataclass(frozen=True, slots=True)
class Known:
    """A constant. Text and bytes may have holes."""

    value: Any
    hidden: bool = False
    """It was written in a code, such as base64."""


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path object; its text may have holes."""

    text: str


@dataclass(slots=True)
class Items:
    """A list, tuple or set. It changes as the one of the code does."""

    items: list[Value]
    more: bool = False
    """There may be others of the kind."""


@dataclass(slots=True)
class Table:
    """A dictionary with constant keys."""

    entries: dict[Any, Value]


@dataclass(frozen=True, slots=True)
class Named:
    """A module, class or function by its full name, such as ``os.remove``."""

    name: str


@dataclass(frozen=True, slots=True)
class Made:
    """An object made by calling something named ``kind``, with its arguments."""

    kind: str
    args: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """An attribute of an object, which may be called."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class Defined:
    """A function or lambda of this code."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    effects: dict[Effect, None] = field(default_factory=dict)
    """What its body does with arguments that are not known."""
    returned: Value = field(default_factory=Unknown)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of these."""

    values: tuple[Value, ...]


Value: TypeAlias = (
    Unknown | Known | FilePath | Items | Table | Named | Made | Method | Defined | AnyOf
)
# Here, for a union that is written in a call of isinstance is made anew each time.
Function: TypeAlias = Named | Defined | Method
Collection: TypeAlias = Items | Table
Inert: TypeAlias = Unknown | Known | FilePath | Items | Table
"""What is no function."""
Passed: TypeAlias = Named | Defined | Method | AnyOf | Made
"""What may be called, or hold what may be."""
OWN_CLASS = "class "
"""Begins the name of a class that the code itself defines, and the kind of its objects."""
UNKNOWN = Unknown()
NOTHING = Known(None)
ANY_KEY = "\ue000any key\ue001"
"""Of a table: what stands at keys that are not known."""
HIDDEN_CALLABLE = Made("something chosen when it runs")


def hole(name: str = "") -> str:
    return f"\ue000{name}\ue001"


def has_hole(text: str | bytes) -> bool:
    return "\ue000" in text if isinstance(text, str) else b"\xee\x80\x80" in text


def shown(text: str) -> str:
    """For a person: ``{name}`` for what is not known."""
    return _HOLE.sub(lambda found: f"{{{found.group(1) or '…'}}}", text)


def in_shell(text: str, known: tuple[str, ...] = ("HOME", "PWD")) -> str:
    """For the shell: a variable that it does not know, either."""

    def variable(found: re.Match[str]) -> str:
        name = found.group(1) or "unknown"
        return f"${{{name}{'_' if name in known or not name.isidentifier() else ''}}}"

    return _HOLE.sub(variable, text)


def as_text(value: Value) -> str | None:
    """What it would be as text, or None for what is no text at all."""
    if isinstance(value, Known):
        content = value.value
        if isinstance(content, str):
            return content
        if isinstance(content, bytes):
            return content.decode("utf-8", errors="replace")
        return str(content) if isinstance(content, bool | int | float) else None
    if isinstance(value, Unknown):
        return hole(value.name)
    if isinstance(value, FilePath):
        return value.text
    return hole() if isinstance(value, AnyOf) else None


def any_of(*values: Value) -> Value:
    """One of these values, or of their alternatives."""
    flat: list[Value] = []
    for value in values:
        for each in alternatives(value):
            # Functions and modules are kept, for what can be done with them must not be lost.
            keeps = len(flat) <= MOST_ALTERNATIVES or isinstance(each, Function)
            if keeps and each not in flat:
                flat.append(each)
    if len(flat) == 1:
        return flat[0]
    if len(flat) <= MOST_ALTERNATIVES:
        return AnyOf(tuple(flat))
    named = tuple(each for each in flat if isinstance(each, Function))
    return AnyOf((*named[:MOST_ALTERNATIVES], UNKNOWN)) if named else UNKNOWN


def alternatives(value: Value) -> tuple[Value, ...]:
    return value.values if isinstance(value, AnyOf) else (value,)


def element_of(value: Value) -> Value:
    """Any element of what a loop goes through."""
    match value:
        case Items(items):
            return any_of(*items) if items else UNKNOWN
        case Table(entries):
            return any_of(*(Known(key) for key in entries)) if entries else UNKNOWN
        case AnyOf(values):
            return any_of(*map(element_of, values))
    return UNKNOWN
