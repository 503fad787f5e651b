"""Reports on stored conversations, and what can be done with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from hermes_jupyter.agent.pictures import is_request, text_of
from hermes_jupyter.errors import StoreError
from hermes_jupyter.exports import FORMATS, export
from hermes_jupyter.exports.turns import Conversation
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.store.sessions.catalog import Stored
from hermes_jupyter.store.sessions.reading import Entry

SHOWN = 20
MOST = 1_000
TITLE_CHARS = 60


def show_sessions(magics: Any, words: Sequence[str]) -> None:
    """The conversations that were used last, or those with a word in title, name or notebook.

    ``--children`` has those of the agents that worked for them below each.
    """
    conversations = magics.desktop.hermes.conversations
    with_children = "--children" in words
    words = [word for word in words if word != "--children"]
    count = int(words[0]) if words and words[0].isdecimal() else SHOWN
    sought = words[0] if words and not words[0].isdecimal() else ""
    found = conversations.stored.listing(sought, min(count, MOST))
    for about in found:
        print(_line(about, conversations))
        for line in _children(about, conversations) if with_children else ():
            print(line)
    if not found:
        print(f"No conversation {'with ' + repr(sought) + ' ' if sought else ''}is stored yet.")
    else:
        print("%hermes resume, fork, export or delete ID goes on with one, copies it, ...")


def resume(magics: Any, words: Sequence[str]) -> None:
    """Go on with a stored conversation; without words the last one that is not open here."""
    conversations = magics.desktop.hermes.conversations
    session = conversations.resume(_wanted(conversations, words) or _last(conversations))
    print(_now_in(session))


def fork(magics: Any, words: Sequence[str]) -> None:
    """``fork [ID] [NAME]``: go on with a copy of a conversation, the current one by default."""
    conversations = magics.desktop.hermes.conversations
    about = _wanted(conversations, words[:1] if len(words) > 1 else ())
    rest = words[1:] if about else words
    if about is None and words and (named := _known(conversations, words[0])):
        about, rest = named, ()
    about = about or _current(conversations)
    name = rest[0] if rest else f"{about.name}-copy"
    print(f"{_now_in(conversations.fork(about, name))}\nIt is a copy of {about.id}")


def rename(magics: Any, words: Sequence[str]) -> None:
    """``rename [ID] NAME``."""
    if not words:
        raise StoreError("which name? %hermes rename NAME, or %hermes rename ID NAME")
    conversations = magics.desktop.hermes.conversations
    about = _wanted(conversations, words[:-1]) or _current(conversations)
    conversations.rename(about, words[-1])
    print(f"{about.id} is now named {words[-1]}")


def export_session(magics: Any, words: Sequence[str]) -> None:
    """``export [ID] FILE``; the ending says how: md, json or ipynb."""
    hermes = magics.desktop.hermes
    if not words:
        raise StoreError(f"to which file? %hermes export FILE, with .{', .'.join(FORMATS)}")
    stored = hermes.conversations.stored
    about = _wanted(hermes.conversations, words[:-1]) or _current(hermes.conversations)
    emoji = hermes.catalog(hermes.session()).get_emoji

    def children(identity: str) -> list[Entry]:
        child = stored.look_up(identity)
        return stored.entries(child) if child is not None else []

    path = export(Conversation(about, stored.entries(about), emoji, children), words[-1])
    print(f"{about.id} is written to {path}")


def delete(magics: Any, words: Sequence[str]) -> None:
    """``delete ID``: remove a conversation for good."""
    conversations = magics.desktop.hermes.conversations
    about = _wanted(conversations, words)
    if about is None:
        raise StoreError("which one? %hermes delete ID; %hermes sessions lists them")
    conversations.delete(about)
    Shelf(magics.desktop.hermes.settings.home).forget(about.id)
    print(f"Deleted: {about.id}  {about.name}, {about.messages} messages  {_title(about)}")


def _wanted(conversations: Any, words: Sequence[str]) -> Stored | None:
    found: Stored | None = conversations.stored.find(words[0]) if words else None
    return found


def _known(conversations: Any, word: str) -> Stored | None:
    try:
        return _wanted(conversations, [word])
    except StoreError:
        return None


def _current(conversations: Any) -> Stored:
    session = conversations.session()
    about: Stored | None = conversations.stored.look_up(session.id)
    if about is None:
        raise StoreError(f"nothing is stored of session {session.name!r} yet")
    return about


def _last(conversations: Any) -> Stored:
    for about in conversations.stored.listing(limit=SHOWN):
        if conversations.open_here(about.id) is None:
            found: Stored = about
            return found
    raise StoreError("no other conversation is stored")


def _now_in(session: Any) -> str:
    count = session.transcript.count_said()
    last = next((m for m in reversed(session.transcript) if is_request(m)), None)
    said = _short(text_of(last)) if last else ""
    lines = [f"Now in {session.name} ({session.id}), {count} messages"]
    return "\n".join([*lines, *([f"Last asked: {said}"] if said else [])])


def _line(about: Stored, conversations: Any) -> str:
    here = conversations.open_here(about.id)
    is_current = here is not None and here.name == conversations.current
    at = datetime.fromtimestamp(about.updated)
    state = "  (open)" if here is not None and not is_current else ""
    if here is None and conversations.stored.is_open_elsewhere(about):
        state = "  (open in another kernel)"
    elif here is None and about.running:
        state = "  (its kernel died in a turn)"
    mark = "*" if is_current else " "
    counted = f"{about.messages:>5} messages"
    return (
        f"{mark} {about.id}  {at:%Y-%m-%d %H:%M}  {counted}  {about.name}{state}  {_title(about)}"
    )


def _children(about: Stored, conversations: Any, depth: int = 1) -> Iterator[str]:
    """A line for each agent that worked for this one's, and for each that worked for that."""
    for child in conversations.stored.children(about):
        at = datetime.fromtimestamp(child.updated)
        state = "  (not ended)" if child.running else ""
        counted = f"{child.messages:>5} messages"
        indent = "  " * depth
        yield f"  {indent}↳ {child.id}  {at:%Y-%m-%d %H:%M}  {counted}{state}  {_title(child)}"
        yield from _children(child, conversations, depth + 1)


def _title(about: Stored) -> str:
    return f"“{_short(about.title)}”" if about.title else ""


def _short(text: str) -> str:
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"
