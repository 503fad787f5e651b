"""What an image is and how large, told by its first bytes: nothing of it is decoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

PNG, JPEG, GIF, WEBP, BMP, TIFF = (
    f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "bmp", "tiff")
)
SENDABLE = frozenset({PNG, JPEG, GIF, WEBP})
"""Kinds that providers take."""
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", PNG), (b"\xff\xd8\xff", JPEG), (b"GIF87a", GIF), (b"GIF89a", GIF),
    (b"BM", BMP), (b"II*\0", TIFF), (b"MM\0*", TIFF),
)  # fmt: skip
_NO_SIZE = frozenset({0xC4, 0xC8, 0xCC})
"""Segments of a JPEG numbered like those that hold its size, and without one."""
SVG_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Header:
    """Kind and size in pixels; (0, 0) where the first bytes do not tell."""

    kind: str
    width: int = 0
    height: int = 0


def header_of(content: bytes) -> Header | None:
    """What these bytes begin; None if it is no image that is known here."""
    kind = _kind(content)
    if kind is None:
        return None
    try:
        return Header(kind, *_size(kind, content))
    except (struct.error, IndexError):  # cut before the size
        return Header(kind)


def is_svg(content: bytes) -> bool:
    """Is it a drawing in words?"""
    return b"<svg" in content[:SVG_CHARS].lower()


def _kind(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return WEBP
    return next((kind for begin, kind in _BEGINNINGS if content.startswith(begin)), None)


def _size(kind: str, content: bytes) -> tuple[int, int]:
    if kind == PNG:
        return struct.unpack(">II", content[16:24])
    if kind == GIF:
        return struct.unpack("<HH", content[6:10])
    if kind == JPEG:
        return _size_of_jpeg(content)
    if kind == WEBP:
        return _size_of_webp(content)
    if kind == BMP:
        width, height = struct.unpack("<ii", content[18:26])
        return abs(width), abs(height)
    return 0, 0


def _size_of_jpeg(content: bytes) -> tuple[int, int]:
    at = 2
    while at < len(content):
        if content[at] != 0xFF:
            return 0, 0
        mark = content[at + 1]
        if mark == 0xFF:  # padding
            at += 1
        elif 0xC0 <= mark <= 0xCF and mark not in _NO_SIZE:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        else:
            at += 2 + struct.unpack(">H", content[at + 2 : at + 4])[0]
    return 0, 0


def _size_of_webp(content: bytes) -> tuple[int, int]:
    if content[12:16] == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
        return width, height
    if content[12:16] == b"VP8L":
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", content[26:30])
    return width & 0x3FFF, height & 0x3FFF
