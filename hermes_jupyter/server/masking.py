"""Keeps a key out of what a provider answers: some repeat the request, with its headers."""

from __future__ import annotations

import json
import re

HIDDEN = "«key of the server»"
SHORTEST = 8
"""Characters of a key; a shorter one ("none", "ollama") is no secret, but a word of answers."""


class Mask:
    """Hides one key in the blocks of one answer, wherever they are cut."""

    def __init__(self, key: str) -> None:
        said = {key, json.dumps(key)[1:-1], key.replace("/", "\\/")} if len(key) >= SHORTEST else ()
        self._keys = [each.encode() for each in said]
        self._found = re.compile(b"|".join(map(re.escape, self._keys)))
        self._held = b""

    def add(self, block: bytes) -> bytes:
        """The block; its end is held back, if the key may begin there."""
        if not self._keys:
            return block
        block = self._found.sub(HIDDEN.encode(), self._held + block)
        length = max(_begun(key, block) for key in self._keys)
        cut = len(block) - length
        self._held = block[cut:]
        return block[:cut]

    def end(self) -> bytes:
        """What was held back: the answer ends here, so it is no key."""
        held, self._held = self._held, b""
        return held


def masked(text: str, key: str) -> str:
    """A whole text without the key."""
    mask = Mask(key)
    return (mask.add(text.encode()) + mask.end()).decode()


def _begun(key: bytes, block: bytes) -> int:
    """How many bytes of the key are at the end of the block."""
    most = min(len(key) - 1, len(block))
    return next((n for n in range(most, 0, -1) if block.endswith(key[:n])), 0)
