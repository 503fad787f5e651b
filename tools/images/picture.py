"""An image as a model gets it: small enough, of a kind that all providers take."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field

MARK = "image:"
"""How names of images begin: ``image:3f2a9c01d4e5``."""
NAME_CHARS = 12
_URI = re.compile(r"data:(image/[\w.+-]+);base64,", re.IGNORECASE)


class UnusableImage(Exception):
    """It is no image, or none that can be sent. The message is for the model."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that may be sent."""

    kind: str
    """Its media type: ``image/png``, ``image/jpeg``, ``image/gif`` or ``image/webp``."""
    content: bytes = field(repr=False)
    width: int
    height: int
    """In pixels."""
    note: str = ""
    """What was done to it: "scaled from 4000 x 3000"."""

    @property
    def digest(self) -> str:
        """Fingerprint (sha256, hex) of its bytes."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def name(self) -> str:
        """What it is called in a conversation."""
        return f"{MARK}{self.digest[:NAME_CHARS]}"

    @property
    def words(self) -> str:
        """For who does not see it: name, kind, size."""
        kind = self.kind.removeprefix("image/").upper()
        said = f"{self.name} ({kind}, {self.width} x {self.height}"
        return f"{said}; {self.note})" if self.note else f"{said})"

    @property
    def uri(self) -> str:
        """As a ``data:`` address."""
        return f"data:{self.kind};base64,{base64.b64encode(self.content).decode('ascii')}"


def decoded(uri: str, most_bytes: int) -> bytes:
    """The bytes of a ``data:`` address of an image.

    Raises
    ------
    UnusableImage
    """
    found = _URI.match(uri)
    if found is None:
        raise UnusableImage("a data: address must begin with data:image/...;base64,")
    text = uri[found.end() :]
    if len(text) * 3 // 4 > most_bytes:
        raise UnusableImage(f"the image has more than {most_bytes:,} bytes")
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise UnusableImage("the data: address holds no proper base64; was it cut?") from None
