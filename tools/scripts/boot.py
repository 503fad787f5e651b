"""How the script's process is started: a few lines on its command line fetch everything else."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

START = """\
import os, sys
answers, asked = os.fdopen(os.dup(0), "rb"), os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
try:
    os.setsid()
except OSError:
    pass
def part():
    return answers.read(int.from_bytes(answers.read(4), "big")).decode()
names = {"__name__": "hermes_child"}
exec(compile(part(), "<hermes>", "exec"), names)
names["main"](part(), part(), asked, answers)
"""
MOST_BYTES = 64 << 20
"""Of a frame. More is none of ours."""


def argv(python: str) -> list[str]:
    """What to start."""
    return [python, "-u", "-c", START]


def job(script: str, module: str) -> bytes:
    """What the started process reads first: three texts."""
    texts = (_child(), script, module)
    return b"".join(_sized(text.encode("utf-8", "replace")) for text in texts)


def frame(message: Mapping[str, Any]) -> bytes:
    return _sized(json.dumps(message).encode("ascii"))


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


@functools.cache
def _child() -> str:
    return Path(__file__).with_name("child.py").read_text(encoding="utf-8")


class Frames:
    """Cuts what comes into messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that are complete now.

        Raises
        ------
        ValueError
            For what is no message.
        """
        self._data += data
        found = []
        while len(self._data) >= 4:
            size = int.from_bytes(self._data[:4], "big")
            if size > MOST_BYTES:
                raise ValueError(f"a message of {size:,} bytes")
            if len(self._data) < 4 + size:
                break
            message = json.loads(self._data[4 : 4 + size])
            del self._data[: 4 + size]
            if not isinstance(message, dict):
                raise ValueError("a message that is no object")
            found.append(message)
        return found
