"""How an object was: the object itself, and a copy of its content where that is cheap.

Lists, dicts and sets are gone through with what they hold, and put back in place, so that whoever
else holds one of them sees it as it was.
"""

from __future__ import annotations

import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from hermes_jupyter.kernel.variables.libraries import (
    BUILTINS,
    bytes_of,
    copied,
    family_of,
    is_equal,
    print_of,
    put_into,
)

MOST_ELEMENTS = 20_000
"""Of all lists, dicts and sets together that are gone through for one turn."""
MOST_COPIED = 4 << 20
"""Bytes of an array or frame that is copied."""
MOST_COPIED_IN_ALL = 32 << 20
MOST_HELD = 256 << 20
"""Bytes of an object that is kept alive only to be put back."""
SCALARS = (int, float, complex, bool, str, bytes, type(None), range, frozenset)


class Gone:
    """Stands for no variable."""

    def __repr__(self) -> str:
        return "nothing"


GONE = Gone()


@dataclass(slots=True)
class Room:
    """What may still be gone through and copied."""

    elements: int = MOST_ELEMENTS
    copied: int = MOST_COPIED_IN_ALL
    seen: dict[int, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """A mutable object and what was in it."""

    value: Any
    content: Any
    """A list of nodes and other objects, of a dict with their keys; or a copy."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How a variable's object was."""

    reference: Any
    """The object, or a weak reference to one that is too large to be kept alive."""
    is_large: bool
    node: Node | None
    """Its content, if that was cheap to keep."""
    print: Any

    @property
    def value(self) -> Any:
        """The object; `GONE` if it was too large to keep it."""
        if not self.is_large:
            return self.reference
        found = self.reference()
        return GONE if found is None else found


def mark(value: Any, room: Room) -> Mark:
    """Note how an object is now."""
    is_large = bytes_of(value) > MOST_HELD and _has_weak_references(value)
    reference = weakref.ref(value) if is_large else value
    noted = None if is_large else _noted(value, room)
    return Mark(reference, is_large, noted if isinstance(noted, Node) else None, print_of(value))


def is_as_marked(noted: Mark, value: Any) -> bool:
    """Is it the same object, unchanged as far as that can be told?"""
    if noted.value is not value:
        return _is_same_scalar(noted.value, value)
    if noted.node is not None:
        return _holds(noted.node)
    return bool(noted.print == print_of(value))


def put_back(noted: Mark) -> tuple[Any, str]:
    """The object as it was, to be bound again, and why it is not quite that.

    Without an object if it cannot be had.
    """
    value = noted.value
    if value is GONE:
        return GONE, "it was too large to keep it beside what took its place"
    if noted.node is not None:
        return _restored(noted.node), ""
    if noted.print != print_of(value):
        return GONE, "it was changed in place, and was too large to copy"
    return value, ""


def _noted(value: Any, room: Room) -> Any:
    """A node for what can be changed in place and is cheap to keep; else the object itself."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if id(value) in room.seen:
        return room.seen[id(value)]
    if kind is tuple or kind in BUILTINS:
        return _container(value, room)
    if family_of(value) == "other" or (size := bytes_of(value)) > min(MOST_COPIED, room.copied):
        return value
    room.copied -= size
    node = room.seen[id(value)] = Node(value, copied(value))
    return node


def _container(value: Any, room: Room) -> Any:
    if len(value) > room.elements:
        return value
    room.elements -= len(value)
    content: list[Any] = []
    node = Node(value, content)
    room.seen[id(value)] = node  # before its elements: it may hold itself
    if type(value) is set:
        content.extend(value)  # what is hashable does not change
    elif type(value) is dict:
        content.extend((key, _noted(each, room)) for key, each in value.items())
    elif type(value) is bytearray:
        content.append(bytes(value))
    else:
        content.extend(_noted(each, room) for each in value)
    if type(value) is tuple and not any(isinstance(each, Node) for each in content):
        return value  # nothing in it can change
    return node


def _holds(node: Node, seen: set[int] | None = None) -> bool:
    """Is in it what was in it?"""
    seen = set() if seen is None else seen
    if id(node) in seen:
        return True
    seen.add(id(node))
    value, content = node.value, node.content
    kind = type(value)
    if kind is bytearray:
        return bool(value == content[0])
    if kind is dict:
        return len(value) == len(content) and all(
            _is_still(key, own_key, seen) and _is_still(was, each, seen)
            for (key, was), (own_key, each) in zip(content, value.items(), strict=True)
        )
    if kind is set:  # by identity, since comparing may run code of the user's
        return set(map(id, value)) == set(map(id, content))
    if kind in (list, tuple, deque):
        return len(value) == len(content) and all(
            _is_still(was, each, seen) for was, each in zip(content, value, strict=True)
        )
    return is_equal(value, content)


def _is_still(was: Any, value: Any, seen: set[int]) -> bool:
    if isinstance(was, Node):
        return was.value is value and _holds(was, seen)
    return was is value or _is_same_scalar(was, value)


def _restored(node: Node, seen: set[int] | None = None) -> Any:
    """The object with its former content; a frame as a copy, since it has no way back."""
    seen = set() if seen is None else seen
    value, content = node.value, node.content
    if id(node) in seen:
        return value
    seen.add(id(node))
    if type(value) is bytearray:
        value[:] = content[0]
    elif type(value) is dict:
        pairs = [(key, _child(each, seen)) for key, each in content]
        value.clear()
        value.update(pairs)
    elif type(value) is set:
        value.clear()
        value.update(content)
    elif type(value) is list:
        value[:] = [_child(each, seen) for each in content]
    elif type(value) is deque:
        elements = [_child(each, seen) for each in content]
        value.clear()
        value.extend(elements)
    elif type(value) is tuple:
        for each in content:
            _child(each, seen)
    elif not is_equal(value, content) and not put_into(value, content):
        return copied(content)
    return value


def _child(each: Any, seen: set[int]) -> Any:
    return _restored(each, seen) if isinstance(each, Node) else each


def _is_same_scalar(one: Any, other: Any) -> bool:
    return type(one) is type(other) and type(one) in SCALARS and bool(one == other)


def _has_weak_references(value: Any) -> bool:
    return family_of(value) != "other"
