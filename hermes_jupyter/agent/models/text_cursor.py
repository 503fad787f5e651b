"""A place in text that is still arriving."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NoReturn

_SPACE = re.compile(r"\s*")


class NeedMore(Exception):
    """The text ends before it can be told."""


class NotACall(Exception):
    """This is ordinary text."""


class Cursor:
    """A place in the text so far; ``final`` if there will be no more of it."""

    def __init__(self, text: str, place: int, names: Collection[str], *, final: bool) -> None:
        self.text = text
        self.place = place
        self.names = names
        self.final = final

    def skip(self, pattern: re.Pattern[str] = _SPACE) -> str:
        """Go past what the pattern matches, which may be nothing."""
        match = pattern.match(self.text, self.place)
        self.place = match.end() if match else self.place
        return match.group() if match else ""

    def at_end(self) -> bool:
        """Whether the answer ends here."""
        if self.place < len(self.text):
            return False
        if not self.final:
            raise NeedMore
        return True

    def sees(self, word: str) -> bool:
        """Whether ``word`` stands here."""
        here = self.text[self.place : self.place + len(word)]
        if here != word and word.startswith(here) and not self.final:
            raise NeedMore
        return here == word

    def takes(self, word: str) -> bool:
        """Whether ``word`` stands here; if so, go past it."""
        found = self.sees(word)
        self.place += len(word) if found else 0
        return found

    def expect(self, word: str) -> None:
        if not self.takes(word):
            raise NotACall

    def up_to(self, end: str, longest: int = 120) -> str:
        """The text before ``end``, which is on this line and not far."""
        found = self.text.find(end, self.place, self.place + longest)
        piece = self.text[self.place : self.place + longest if found < 0 else found]
        if "\n" in piece:
            raise NotACall
        if found < 0:
            self.out_of_text(if_more=len(piece) < longest)
        self.place = found + len(end)
        return piece

    def out_of_text(self, *, if_more: bool = True) -> NoReturn:
        """Wait, if there may be more and it may help; else this is no call."""
        raise NeedMore if if_more and not self.final else NotACall

    def offered(self, name: str) -> str:
        """The offered tool that ``name`` means."""
        if name in self.names:
            return name
        alike = [known for known in self.names if known.casefold() == name.casefold()]
        if len(alike) != 1:
            raise NotACall
        return alike[0]
