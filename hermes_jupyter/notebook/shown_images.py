"""Images that cells have put out, for a model that sees."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_jupyter.notebook.cells import SeenCell
from hermes_jupyter.notebook.saved import joined
from tools.images.picture import Picture, UnusableImage
from tools.images.preparing import prepared

MOST = 3
"""Images of the cells above that go to the model with one request."""
KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")


def images_of(cells: Sequence[SeenCell], most: int = MOST) -> list[tuple[str, Picture]]:
    """The images of these cells, the last first, each with where it is from.

    One that is damaged, or was too large to be kept, is left out. Takes a while: in a tool thread.
    """
    found: list[tuple[str, Picture]] = []
    for cell in reversed(cells):
        for content in reversed([*_contents(cell.outputs())]):
            if len(found) == most:
                return found[::-1]
            try:
                found.append((f"cell [{cell.number or ' '}]", prepared(content)))
            except UnusableImage:
                continue
    return found[::-1]


def _contents(outputs: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    for output in outputs:
        data = output.get("data")
        kinds = [kind for kind in KINDS if isinstance(data, Mapping) and kind in data]
        if kinds and isinstance(data, Mapping):
            try:
                yield base64.b64decode("".join(joined(data[kinds[0]]).split()))
            except ValueError:
                continue
