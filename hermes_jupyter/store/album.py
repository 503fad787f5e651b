"""The images of a conversation, so that it can look at one again."""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable

from hermes_jupyter.errors import StoreError
from tools.images.headers import header_of
from tools.images.picture import MARK, NAME_CHARS, Picture

logger = logging.getLogger(__name__)

MOST_BYTES = 32 << 20
_DIGEST = re.compile(rf"[0-9a-f]{{{NAME_CHARS},64}}")


class Album:
    """Keeps the newest images in memory, by name. Safe to use from any thread.

    Parameters
    ----------
    look_up
        Finds older ones, by the beginning of their digest: media type and bytes.
    """

    def __init__(
        self,
        look_up: Callable[[str], tuple[str, bytes] | None] = lambda _digest: None,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._look_up, self._most = look_up, most_bytes
        self._lock = threading.Lock()  # guards the pictures
        self._pictures: OrderedDict[str, Picture] = OrderedDict()

    def add(self, picture: Picture) -> None:
        with self._lock:
            self._pictures[picture.name] = picture
            self._pictures.move_to_end(picture.name)
            size = sum(len(each.content) for each in self._pictures.values())
            while size > self._most and len(self._pictures) > 1:
                size -= len(self._pictures.popitem(last=False)[1].content)

    def find(self, name: str) -> Picture | None:
        """The image of this name; None if there is none, or none any more."""
        wanted = name.strip().rstrip(".,;:)")
        with self._lock:
            if wanted in self._pictures:
                return self._pictures[wanted]
        digest = wanted.removeprefix(MARK)
        try:
            found = self._look_up(digest) if _DIGEST.fullmatch(digest) else None
        except StoreError:
            logger.warning("an older image cannot be read", exc_info=True)
            return None
        header = header_of(found[1]) if found else None
        return Picture(*found, header.width, header.height) if found and header else None
