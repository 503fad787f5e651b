"""Errors that a model can mend, and errors of the system in words."""

from __future__ import annotations

import errno
from typing import Any

MAX_PATH_CHARS = 300
REMEDIES = {
    errno.EACCES: "permission denied",
    errno.EPERM: "not permitted",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "larger than this system allows a file to be",
    errno.EROFS: "the file system is read-only",
    errno.ELOOP: "a loop of symbolic links",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "this is a folder, not a file",
    errno.ENOENT: "no such file or folder",
}


class Problem(Exception):
    """Something that the model can mend. ``extra`` goes into the answer beside the message."""

    def __init__(self, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.extra = extra


def describe(error: OSError) -> str:
    """An error of the system in words, with the path it is about."""
    reason = REMEDIES.get(error.errno or 0) or error.strerror or str(error)
    path = error.filename2 or error.filename
    return f"{shown(str(path))[:MAX_PATH_CHARS]}: {reason}" if path else reason


def shown(text: str) -> str:
    r"""Text that any encoder accepts: bytes that are no UTF-8 in a name appear as ``\\udcXX``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
