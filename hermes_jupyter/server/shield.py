"""Keeps other processes of the same user from looking into this one (Linux)."""

from __future__ import annotations

import ctypes
import logging
import sys

logger = logging.getLogger(__name__)

SET_DUMPABLE = 4
"""``PR_SET_DUMPABLE`` of ``prctl``."""


def raise_shield() -> bool:
    """Make memory and environment of this process unreadable for others; False where one cannot.

    It has no core dumps then, and no debugger can be attached. Its children are as before.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_DUMPABLE, 0, 0, 0, 0) != 0:
        logger.warning("other processes can look into this one: errno %s", ctypes.get_errno())
        return False
    return True
