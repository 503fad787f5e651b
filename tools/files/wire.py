"""Questions and answers between `RemotePlace` and the program that answers there.

A frame is two lengths, a JSON text and raw bytes. Names that are no UTF-8 travel as the lone
surrogates that Python makes of them; error numbers travel as names, for they differ.
"""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Callable, Mapping
from typing import Any

from tools.files.problems import Problem

LENGTHS = struct.Struct(">II")
MOST_BYTES = 512 << 20
"""Of a frame. More is no frame of ours."""
Message = Mapping[str, Any]


def frame(message: Message, body: bytes = b"") -> bytes:
    text = json.dumps(message).encode("ascii")
    return LENGTHS.pack(len(text), len(body)) + text + body


def read_frame(read: Callable[[int], bytes]) -> tuple[dict[str, Any], bytes]:
    """The next frame.

    Parameters
    ----------
    read
        Gives exactly so many bytes, or raises `EOFError`.

    Raises
    ------
    EOFError
        If there is none, or only a part of one.
    ValueError
        If it is no frame.
    """
    text, body = LENGTHS.unpack(read(LENGTHS.size))
    if text + body > MOST_BYTES:
        raise ValueError(f"a frame of {text + body:,} bytes")
    message = json.loads(read(text))
    if not isinstance(message, dict):
        raise ValueError("a frame without a message")
    return message, read(body)


def told(error: OSError | Problem) -> dict[str, Any]:
    """An error as a message."""
    if isinstance(error, Problem):
        return {"problem": str(error), "extra": error.extra}
    code = errno.errorcode.get(error.errno or 0, "")
    path = error.filename2 or error.filename
    text = error.strerror or str(error)
    return {"code": code, "error": text, "path": None if path is None else os.fsdecode(path)}


def raise_told(message: Message) -> None:
    """Raise the error that a message tells of, if it does.

    Raises
    ------
    OSError, Problem
    """
    if "problem" in message:
        raise Problem(str(message["problem"]), **message.get("extra", {}))
    if "error" in message:
        number = getattr(errno, str(message.get("code")), errno.EIO)
        raise OSError(number, str(message["error"]), message.get("path"))
