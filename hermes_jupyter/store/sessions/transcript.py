"""The messages of a conversation, as a list that is on disk as well."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, overload

from hermes_jupyter.store.sessions.journal import Journal
from hermes_jupyter.store.sessions.message_rows import Message

WITHDRAWN = "withdrawn"
REPLACED = "compacted"


class Transcript(list[Message]):
    """What the model reads. Every change is written down before it is made.

    Messages that were deleted or replaced stay on disk: those that others took the place of
    (``transcript[1:9] = [summary]``) can still be searched. A message is never changed in place:
    put another one there.

    Parameters
    ----------
    stored
        Messages that are on disk already, each with its row and its place.
    """

    def __init__(self, journal: Journal, stored: Sequence[tuple[int, float, Message]] = ()) -> None:
        super().__init__(message for _, _, message in stored)
        self._journal = journal
        self._rows = [row for row, _, _ in stored]
        self._places = [place for _, place, _ in stored]

    def append(self, message: Message) -> None:
        row = self._journal.add(message)
        last = self._places[-1] if self._places else 0.0
        self._rows.append(row)
        self._places.append(self._journal.place_of(row) if row else last + 1)
        super().append(message)

    def extend(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.append(message)

    def insert(self, index: SupportsIndex, message: Message) -> None:
        place = int(index)
        self[place:place] = [message]

    def pop(self, index: SupportsIndex = -1) -> Message:
        message = self[index]
        del self[index]
        return message

    def remove(self, message: Message) -> None:
        del self[self.index(message)]

    def clear(self) -> None:
        del self[:]

    def __iadd__(self, messages: Iterable[Message]) -> Transcript:  # type: ignore[override, misc]
        self.extend(messages)
        return self

    def __delitem__(self, key: SupportsIndex | slice) -> None:
        at = self._span(key)
        self._journal.replace([row for row in self._rows[at] if row], WITHDRAWN, ())
        del self._rows[at], self._places[at]
        super().__delitem__(at)

    @overload
    def __setitem__(self, key: SupportsIndex, value: Message) -> None: ...

    @overload
    def __setitem__(self, key: slice, value: Iterable[Message]) -> None: ...

    def __setitem__(self, key: SupportsIndex | slice, value: Any) -> None:
        self._put(self._span(key), [*value] if isinstance(key, slice) else [value], REPLACED)

    def sort(self, **_: Any) -> None:
        raise TypeError("the messages of a conversation have one order")

    def reverse(self) -> None:
        self.sort()

    def count_said(self) -> int:
        """How many messages there are without the system's."""
        return sum(message["role"] != "system" for message in self)

    def save(self) -> None:
        """Write down what could not be written before, if there is such."""
        if not all(self._rows):
            self._put(slice(0, len(self)), [*self], WITHDRAWN)

    def _put(self, at: slice, messages: list[Message], why: str) -> None:
        places = self._between(at, len(messages))
        gone = [row for row in self._rows[at] if row]
        rows = self._journal.replace(gone, why, [*zip(messages, places, strict=True)])
        self._rows[at], self._places[at] = rows, places
        super().__setitem__(at, messages)

    def _span(self, key: SupportsIndex | slice) -> slice:
        if not isinstance(key, slice):
            start = range(len(self))[key]
            return slice(start, start + 1)
        start, stop, step = key.indices(len(self))
        if step != 1:
            raise ValueError("only neighbouring messages can be replaced")
        return slice(start, max(start, stop))

    def _between(self, at: slice, count: int) -> list[float]:
        """Places between the neighbours."""
        before = self._places[at.start - 1] if at.start else 0.0
        behind = self._places[at.stop] if at.stop < len(self) else None
        if behind is None:
            behind = max([before, *self._places[at]]) + 1
        step = (behind - before) / (count + 1)
        return [*itertools.islice(itertools.count(before + step, step), count)]
