"""Puts tool calls together from the pieces in which servers stream them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.text import json_object


@dataclass(slots=True)
class _Slot:
    """A call that is being put together."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extras: dict[str, Any] = field(default_factory=dict)

    def add_name(self, piece: str) -> None:
        if not piece or piece == self.name:
            return  # llama_cpp.server repeats the name in every piece
        if piece.startswith(self.name):
            self.name = piece
        elif not self.arguments:
            self.name += piece

    def is_complete(self) -> bool:
        return json_object(self.arguments) is not None


class CallAssembler:
    """Collects the ``tool_calls`` of a reply's pieces.

    A piece belongs to the call with its id, else to the call at its index, else to the last one.
    Servers that give index 0 to all, or no index, or no id, are told apart by names and by whether
    the arguments so far are complete.

    Parameters
    ----------
    echo
        Fields of a call that must go back with it: `extras` has them.
    """

    def __init__(self, echo: Collection[str] = ()) -> None:
        self._slots: list[_Slot] = []
        self._echo = echo

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, pieces: Any) -> None:
        """Take the ``tool_calls`` of one delta; what is no list of objects is ignored."""
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, Mapping):
                self._add(piece)

    def add_whole(self, calls: Any) -> None:
        """Take the ``tool_calls`` of a message that was not streamed: each is a call."""
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                self._add({**call, "index": place})

    def finish(self, *, is_cut: bool = False) -> tuple[RawCall, ...]:
        """The calls, each with an id of its own. If the answer was cut, so is what is not whole."""
        calls: list[RawCall] = []
        taken: set[str] = set()
        for slot in self._filled():
            identity = slot.id if slot.id and slot.id not in taken else new_call_id()
            taken.add(identity)
            cut = is_cut and not slot.is_complete()
            calls.append(RawCall(id=identity, name=slot.name, arguments=slot.arguments, is_cut=cut))
        return tuple(calls)

    def extras(self) -> list[dict[str, Any]]:
        """For each call what must go back with it; empty if nothing must."""
        found = [slot.extras for slot in self._filled()]
        return found if any(found) else []

    def _filled(self) -> list[_Slot]:
        return [slot for slot in self._slots if slot.name or slot.arguments]

    def _add(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        index, identity = piece.get("index"), str(piece.get("id") or "")
        name = str(function.get("name") or "")
        slot = self._slot(index if isinstance(index, int) else None, identity, name)
        slot.id = slot.id or identity
        slot.add_name(name)
        slot.arguments += _text_of(function.get("arguments"))
        slot.extras |= {name: piece[name] for name in self._echo if piece.get(name) is not None}

    def _slot(self, index: int | None, identity: str, name: str) -> _Slot:
        slot = self._find(index, identity)
        if slot is None or _starts_another(slot, identity, name):
            slot = _Slot(index)
            self._slots.append(slot)
        return slot

    def _find(self, index: int | None, identity: str) -> _Slot | None:
        latest_first = self._slots[::-1]
        if identity:
            for slot in latest_first:
                if slot.id == identity and index in (None, slot.index):
                    return slot
        if index is None:
            return latest_first[0] if latest_first else None
        return next((slot for slot in latest_first if slot.index == index), None)


def _starts_another(slot: _Slot, identity: str, name: str) -> bool:
    """Whether a piece for this place begins a new call there."""
    if not name:
        return False
    if identity and slot.id:
        return identity != slot.id
    return slot.is_complete()


def _text_of(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def new_call_id() -> str:
    """An id for a call whose model gave none."""
    return f"call_{uuid4().hex[:24]}"
