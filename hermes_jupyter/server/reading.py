"""Reads stored conversations for the routes. In threads: it waits for the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import StoreError
from hermes_jupyter.exports import FORMATS
from hermes_jupyter.exports.turns import Conversation
from hermes_jupyter.store.sessions.browsing import Browser
from hermes_jupyter.store.sessions.catalog import Sessions, Stored
from hermes_jupyter.store.sessions.reading import Entry
from hermes_jupyter.store.sessions.state import usage_of

COUNTED = 1_000
"""Of the conversations that were used last, for totals."""

Told = Mapping[str, Any]
UNKNOWN = "there is no conversation with this id"


@dataclass(frozen=True, slots=True)
class Exported:
    """A conversation as a file."""

    name: str
    text: str


class Reader:
    """The conversations in a folder. LookupError: there is no such; StoreError: all are missing."""

    def __init__(self, home: Path) -> None:
        self._stored = Sessions(home)

    def listing(self, words: str, limit: int, offset: int) -> Told:
        """Those that were used last, with the words in title, name or notebook."""
        listed = self._stored.listing(words, limit, offset)
        return {"sessions": [self._about(each) for each in listed], "total": self._stored.count()}

    def search(self, words: str, limit: int) -> Told:
        """Those in which a message has all the words."""
        found, total = Browser(self._stored, "").find(
            words, limit=limit, order="relevance", roles=()
        )
        return {"found": found, "total": total}

    def read(self, identity: str, at: int, window: int) -> Told:
        """The beginning and the end of one; with ``at`` the messages around that one."""
        about = self._exactly(identity)
        browser = Browser(self._stored, "")
        told = browser.around(about.id, at, window) if at else browser.read(about.id)
        return {**told, **self._about(about)}

    def export(self, identity: str, form: str) -> Exported:
        """All of one, in one of `FORMATS`."""
        if form not in FORMATS:
            raise LookupError(f"conversations are exported as {', '.join(FORMATS)}")
        about = self._exactly(identity)

        def children(name: str) -> list[Entry]:
            child = self._stored.look_up(name)
            return self._stored.entries(child) if child is not None else []

        conversation = Conversation(about, self._stored.entries(about), children=children)
        return Exported(f"{conversation.file_name}.{form}", FORMATS[form](conversation))

    def used(self) -> Told:
        """What the conversations that were used last took in all."""
        found = self._stored.listing(limit=COUNTED)
        usage = sum((usage_of(each.state) for each in found), Usage())
        return {"sessions": len(found), **_used(usage)}

    def problem(self) -> str:
        """What keeps conversations from being read; empty if nothing does."""
        try:
            self._stored.count()
        except StoreError as problem:
            return str(problem)
        return ""

    def close(self) -> None:
        self._stored.close()

    def _exactly(self, identity: str) -> Stored:
        about = self._stored.look_up(identity)
        if about is None:
            raise LookupError(UNKNOWN)
        return about

    def _about(self, about: Stored) -> Told:
        is_open = self._stored.is_open_elsewhere(about)
        return {
            "id": about.id,
            "name": about.name,
            "title": about.title,
            "notebook": about.notebook,
            "model": about.model,
            "created": about.created,
            "updated": about.updated,
            "message_count": about.messages,
            "is_open": is_open,
            "was_cut": about.running and not is_open,
            **_used(usage_of(about.state)),
        }


def _used(usage: Usage) -> Told:
    return {
        "tokens": usage.tokens,
        "cost": usage.cost,
        "unpriced_calls": usage.unpriced_calls,
    }
