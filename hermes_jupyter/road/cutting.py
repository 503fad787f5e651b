"""Cut a long answer to a limit: head and tail, what is left out, and how to read on.

JSON stays JSON: the longest texts in it give way first, then the middle of long arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.text import NO_JSON, as_json, main_field, mended, parsed

SMALLEST = 600
"""The least that an answer may be cut to: room for what it says about itself."""
HEAD_SHARE = 0.5
LEAST_TEXT = 300
LEAST_ITEM = 120
LEAST_FIELD = 40
NOTE = "cut"

_encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """The answer that is cut, as far as its reader is told."""

    handle: str
    """Where it is kept; empty if it is not."""
    chars: int
    lines: int
    hint: str = ""

    def note(self, offset: int) -> str:
        """How much there is, and how to read on from ``offset``."""
        size = f"{self.chars:,} characters in {self.lines:,} lines"
        if self.handle:
            how = (
                f"All {size} are kept: read_result(handle='{self.handle}', offset={offset}) reads "
                "on, and with pattern='...' it finds places."
            )
        else:
            how = (
                f"There are {size}. To see other parts ask for less at a time: use offset and "
                "limit, a narrower search, or grep, head and tail."
            )
        return f"{how} {self.hint}".rstrip()


def cut(text: str, limit: int, whole: Whole) -> str:
    """The answer in at most ``limit`` characters (and never fewer than ``SMALLEST``)."""
    limit = max(limit, SMALLEST)
    if len(text) <= limit:
        return text
    answer = parsed(text)
    if answer is NO_JSON:
        return _cut_text(text, limit, whole)
    try:
        shorter = as_json(_cut_json(answer, limit, whole))
    except RecursionError:
        shorter = text
    return shorter if len(shorter) <= limit else as_json(_beginning(text, limit, whole))


def _cut_text(text: str, limit: int, whole: Whole) -> str:
    mark = _mark(len(text), len(text), f": {whole.note(len(text))}")
    head, tail = _ends(text, limit - len(mark), len)
    dropped = len(text) - len(head) - len(tail)
    return head + _mark(dropped, len(text), f": {whole.note(len(head))}") + tail


def _cut_json(answer: Any, limit: int, whole: Whole) -> Any:
    room = limit - len(_encode(whole.note(whole.chars))) - len(NOTE) - 10
    match answer:
        case dict():
            return _cut_object(answer, room, whole)
        case list():
            return [*_Shrinking().list_in(answer, room), whole.note(0)]
        case _:
            return f"{text_in(answer, room)}\n[{whole.note(0)}]"


def _cut_object(answer: dict[str, Any], room: int, whole: Whole) -> dict[str, Any]:
    """If one text is nearly all of it, that alone is cut: one can read on where its head ends."""
    note = NOTE
    while note in answer:
        note = f"_{note}"
    main = main_field(answer)
    left = room - len(_encode({**answer, main: ""})) if main else 0
    if left < LEAST_TEXT:
        return {**_Shrinking().object_in(answer, room), note: whole.note(0)}
    text = mended(answer[main])
    mark = _mark(len(text), len(text))
    head, tail = _ends(text, left - len(_encode(mark)) + 2, _encoded_chars)
    shorter = head + _mark(len(text) - len(head) - len(tail), len(text)) + tail
    return {**answer, main: shorter, note: whole.note(len(head))}


def _beginning(text: str, limit: int, whole: Whole) -> dict[str, str]:
    """For JSON that cannot be cut well, such as one of a thousand levels: its text, as a text."""
    note = whole.note(0)
    head = _fitting(text, limit - len(_encode({"beginning": "", NOTE: note})), _encoded_chars)
    return {"beginning": head, NOTE: note}


class _Shrinking:
    """Makes values smaller. Remembers how large they are, so that depth costs nothing."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def value_in(self, value: Any, room: int) -> Any:
        """The value, or as much of it as fits into ``room`` characters of JSON."""
        if self._size(value) <= room:
            return value
        match value:
            case str():
                return text_in(value, room)
            case list():
                return self.list_in(value, room)
            case dict():
                return self.object_in(value, room)
            case _:
                return value

    def list_in(self, items: list[Any], room: int) -> list[Any]:
        sizes = [self._size(item) + 2 for item in items]
        if len(items) * LEAST_ITEM <= room:
            rooms = allotted(sizes, room - 2)
            return [self.value_in(each, most - 2) for each, most in zip(items, rooms, strict=True)]
        head, tail, most = _kept_ends(sizes, room)
        dropped = len(items) - head - tail
        mark = f"[... {dropped:,} of {len(items):,} items left out here ...]"
        first = [self.value_in(item, most) for item in items[:head]]
        return [*first, mark, *(self.value_in(item, most) for item in items[len(items) - tail :])]

    def object_in(self, fields: Mapping[str, Any], room: int) -> dict[str, Any]:
        names = [*fields]
        fixed = [len(_encode(name)) + 4 for name in names]
        left = room - sum(fixed) - 2
        if left >= len(names) * LEAST_FIELD:
            rooms = allotted([self._size(fields[name]) for name in names], left)
            return {
                name: self.value_in(fields[name], most)
                for name, most in zip(names, rooms, strict=True)
            }
        sizes = [self._size(fields[name]) + size for name, size in zip(names, fixed, strict=True)]
        head, tail, most = _kept_ends(sizes, room)
        shorter = {name: self._field_in(name, fields, most) for name in names[:head]}
        dropped = len(names) - head - tail
        shorter["..."] = f"{dropped:,} of {len(names):,} fields left out here"
        last = names[len(names) - tail :]
        return {**shorter, **{name: self._field_in(name, fields, most) for name in last}}

    def _field_in(self, name: str, fields: Mapping[str, Any], most: int) -> Any:
        return self.value_in(fields[name], most - len(_encode(name)) - 4)

    def _size(self, value: Any) -> int:
        if not isinstance(value, list | dict):
            return len(_encode(value))
        known = self._sizes.get(id(value))
        if known is None:
            parts = value if isinstance(value, list) else [*value, *value.values()]
            known = self._sizes[id(value)] = 2 + sum(self._size(part) + 2 for part in parts)
        return known


def _kept_ends(sizes: Sequence[int], room: int) -> tuple[int, int, int]:
    """How many of the first and last parts are kept, and how large each of them may be."""
    left = room - LEAST_ITEM
    most = max(left // 8, LEAST_ITEM)
    head = _fitting_count(sizes, int(left * HEAD_SHARE), most)
    spent = sum(min(size, most) for size in sizes[:head])
    tail = _fitting_count(sizes[head:][::-1], left - spent, most)
    return head, tail, most - 2


def _fitting_count(sizes: Sequence[int], room: int, most: int) -> int:
    for count, size in enumerate(sizes):
        room -= min(size, most)
        if room < 0:
            return count
    return len(sizes)


def text_in(text: str, room: int) -> str:
    """Head and tail of a text that, as JSON, take at most ``room`` characters."""
    text = mended(text)
    mark = _mark(len(text), len(text))
    left = room - len(_encode(mark))
    if left < LEAST_ITEM:  # no room for numbers
        return _fitting(text, room - 5, _encoded_chars) + "..." if room >= 5 else ""
    head, tail = _ends(text, left, _encoded_chars)
    return head + _mark(len(text) - len(head) - len(tail), len(text)) + tail


def _ends(text: str, room: int, measure: Callable[[str], int]) -> tuple[str, str]:
    head = _fitting(text, int(room * HEAD_SHARE), measure)
    left = room - measure(head)
    tail = _fitting(text[max(len(head), len(text) - left) :][::-1], left, measure)
    return head, tail[::-1]


def _fitting(text: str, room: int, measure: Callable[[str], int]) -> str:
    """As much of the beginning as measures at most ``room``."""
    piece = text[: max(0, room)]
    while piece and (size := measure(piece)) > room:
        piece = piece[: min(len(piece) - 1, len(piece) * max(0, room) // size)]
    return piece


def _encoded_chars(text: str) -> int:
    return len(_encode(text)) - 2


def _mark(dropped: int, total: int, more: str = "") -> str:
    return f"\n[... {dropped:,} of {total:,} characters left out here{more} ...]\n"


def allotted(sizes: Sequence[int], room: int) -> list[int]:
    """Share out ``room``: the small ones get what they need, the large ones as much as each other.

    Examples
    --------
    >>> allotted([10, 500, 900], 610)
    [10, 300, 300]
    """
    rooms, left = [*sizes], room
    for rest, index in zip(
        range(len(sizes), 0, -1), sorted(range(len(sizes)), key=sizes.__getitem__), strict=True
    ):
        rooms[index] = min(sizes[index], max(0, left) // rest)
        left -= rooms[index]
    return rooms
