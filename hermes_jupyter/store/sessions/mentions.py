"""Ids of conversations in a notebook's file, where the records of its turns name them."""

from __future__ import annotations

import logging
import re
from pathlib import Path

logger = logging.getLogger(__name__)

MAX_BYTES = 64 << 20
MOST = 50
_MENTION = re.compile(rb'"session_id":\s{0,4}"(\d{8}-\d{6}-[0-9a-f]{10})"')


def ids_in(notebook: Path) -> list[str]:
    """The ids that the file names, the last ones first. A file that cannot be read names none."""
    try:
        if notebook.stat().st_size > MAX_BYTES:
            return []
        found = _MENTION.findall(notebook.read_bytes())
    except OSError:
        logger.debug("the notebook %s cannot be read", notebook, exc_info=True)
        return []
    return [mention.decode() for mention in dict.fromkeys(reversed(found))][:MOST]
