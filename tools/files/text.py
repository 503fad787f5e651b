"""Bytes and text: which encoding a file has, and writing it back the way it was."""

from __future__ import annotations

import bisect
import codecs
from collections.abc import Sequence
from dataclasses import dataclass

from tools.files.problems import Problem

HEAD_BYTES = 8_192
BOMS = (  # the 32-bit ones first: they begin like the 16-bit ones
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BOM_STARTS = frozenset(bom[:1] for bom, _ in BOMS)
ORDINARY_CONTROLS = b"\t\n\r\f\b\x1b"
ODD_BYTES = bytes(byte for byte in range(32) if byte not in ORDINARY_CONTROLS)
MAX_ODD_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file (line ends as they are), and how it was stored."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        return "\r\n" if self.text.count("\r\n") * 2 > self.text.count("\n") else "\n"

    @property
    def unified(self) -> str:
        r"""The text with ``\n`` at all line ends."""
        return self.text.replace("\r\n", "\n")


def split_bom(head: bytes) -> tuple[bytes, str | None]:
    """The byte order mark at the start, and the encoding it tells of."""
    if head[:1] not in BOM_STARTS:
        return b"", None
    return next(((bom, name) for bom, name in BOMS if head.startswith(bom)), (b"", None))


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are of no text."""
    if split_bom(head)[1]:
        return False
    odd = len(head) - len(head.translate(None, ODD_BYTES))
    return b"\0" in head or odd > len(head) * MAX_ODD_SHARE or head.startswith(b"%PDF-")


def decode(content: bytes) -> Text | None:
    """The text of a file: by its BOM, else UTF-8, else Latin-1; None if it is binary.

    Latin-1 takes any byte and gives it back, so an edit leaves the rest of the file alone.
    """
    bom, encoding = split_bom(content)
    if not encoding and is_binary(content[:HEAD_BYTES]):
        return None
    try:
        return Text(content[len(bom) :].decode(encoding or "utf-8"), encoding or "utf-8", bom)
    except UnicodeDecodeError:
        if bom:
            return None
    return Text(content.decode("latin-1"), "latin-1")


def encode(text: str, like: Text) -> bytes:
    """Bytes of a text, stored as ``like`` was.

    Raises
    ------
    Problem
        If that encoding has no place for a character.
    """
    try:
        return like.bom + text.encode(like.encoding)
    except UnicodeEncodeError as error:
        character = text[error.start]
        line = text.count("\n", 0, error.start) + 1
        if 0xD800 <= ord(character) <= 0xDFFF:
            why = "is half of a surrogate pair and cannot be stored; write the whole character"
        else:
            why = f"cannot be stored in this file, whose encoding is {like.encoding}"
        raise Problem(f"The character {character!r} in line {line} {why}") from None


def with_newlines_of(text: str, like: Text) -> str:
    """The text with the line ends that ``like`` has, if those are CRLF."""
    if like.newline == "\r\n":
        return text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``unified[start:end]`` of a text by other text."""

    start: int
    end: int
    text: str


def edited(original: Text, edits: Sequence[Edit]) -> str:
    """Apply edits, made on the unified text, to the original; other line ends stay as they are."""
    raw = original.text
    dropped = _dropped_returns(raw)
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        start, end = (
            place + bisect.bisect_left(dropped, place) for place in (edit.start, edit.end)
        )
        parts += [raw[done:start], edit.text.replace("\n", original.newline)]
        done = end
    return "".join([*parts, raw[done:]])


def _dropped_returns(raw: str) -> list[int]:
    """Where, in the unified text, the line feeds are that lost their carriage return."""
    places: list[int] = []
    at = raw.find("\r\n")
    while at >= 0:
        places.append(at - len(places))
        at = raw.find("\r\n", at + 2)
    return places
