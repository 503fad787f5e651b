"""Outputs of a cell as short text."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.notebook.saved import joined
from tools.plain_text import without_escapes

_BASE64 = re.compile(r"[A-Za-z0-9+/]{400,}={0,2}")
TEXTS = ("text/markdown", "text/latex", "application/json")


def text_of(outputs: Sequence[Mapping[str, Any]], limit: int) -> str:
    """All of them, the middle left out if they are longer than ``limit`` characters.

    Images are named with their size, never spelled out; an error is its last line.
    """
    parts = (_text(output).strip("\n") for output in outputs)
    return shortened("\n".join(part for part in parts if part), limit)


def shortened(text: str, limit: int) -> str:
    """The beginning and the end."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    left = len(text) - limit
    return f"{text[:head]}\n[… {left:,} characters left out …]\n{text[len(text) - limit + head :]}"


def _text(output: Mapping[str, Any]) -> str:
    match output.get("output_type"):
        case "stream":
            return _plain(output.get("text"))
        case "error":
            return f"{output.get('ename', 'Error')}: {_plain(output.get('evalue'))}"
        case "display_data" | "execute_result":
            data = output.get("data")
            return _bundle(data) if isinstance(data, Mapping) else ""
    return ""


def _bundle(data: Mapping[str, Any]) -> str:
    images = [_image(kind, data[kind]) for kind in data if kind.startswith("image/")]
    plain = _plain(data.get("text/plain"))
    if images:
        return "\n".join(images)
    if plain:
        return plain
    return next((_plain(data[kind]) for kind in TEXTS if kind in data), "")


def _image(kind: str, content: Any) -> str:
    size = png_size(content) if kind == "image/png" else None
    return f"[{kind}, {size[0]} x {size[1]}]" if size else f"[{kind}]"


def png_size(content: Any) -> tuple[int, int] | None:
    """Width and height, in pixels, of a PNG in base64; None if it is none."""
    try:
        head = base64.b64decode(joined(content).replace("\n", "")[:64])
        if head[:8] != b"\x89PNG\r\n\x1a\n":
            return None
        width, height = struct.unpack(">II", head[16:24])
    except (binascii.Error, ValueError, struct.error):
        return None
    return width, height


def _plain(text: Any) -> str:
    without = without_escapes(joined(text))
    return _BASE64.sub(lambda found: f"[{len(found.group()):,} characters of base64]", without)
