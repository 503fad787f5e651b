"""Keep what the engine has read of a prompt's beginning, on disk, for the next kernel.

System prompt, manuals and examples are a thousand tokens: reading them takes a small machine ten
seconds and more, restoring them takes milliseconds. Only this beginning is kept, never a word of a
conversation.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.models.local.engine import Engine

KEPT = 6  # files, of about 30 MB each
log = logging.getLogger(__name__)


class PrefixStore:
    """Prepares the engine for requests that begin alike."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._prepared = ""
        self._guard = threading.Lock()  # of _prepared, and of the engine's only slot

    def prepare(self, preface: Sequence[dict[str, str]], caller: socket.socket) -> None:
        """Restore the preface, or read and keep it. Does nothing if it is the last one again."""
        text = json.dumps([self._engine.fingerprint, *preface], sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        with self._guard:
            if digest == self._prepared:
                return
            path = self._engine.slots / f"{digest}.slot"
            if not (path.exists() and self._restore(path, caller)):
                self._read(preface, path, caller)
            self._prepared = digest

    def _restore(self, path: Path, caller: socket.socket) -> bool:
        if self._slot("restore", path.name, caller):
            path.touch()
            return True
        path.unlink(missing_ok=True)
        return False

    def _read(self, preface: Sequence[dict[str, str]], path: Path, caller: socket.socket) -> None:
        request = {"messages": preface, "max_tokens": 1, "cache_prompt": True}
        with self._engine.post("/v1/chat/completions", request, caller) as response:
            response.read()
            if response.status != 200:  # the request itself will say what is wrong
                return
        partial = path.with_suffix(f".{os.getpid()}")
        if self._slot("save", partial.name, caller):
            partial.replace(path)
            self._forget_old()
        partial.unlink(missing_ok=True)

    def _slot(self, action: str, name: str, caller: socket.socket) -> bool:
        """Save or restore the engine's state; it may refuse, and all goes on without."""
        body: dict[str, Any] = {"filename": name}
        with self._engine.post(f"/slots/0?action={action}", body, caller) as response:
            answer = response.read()
        if response.status != 200:
            log.warning("The engine cannot %s a prefix: %r", action, answer[:200])
        return response.status == 200

    def _forget_old(self) -> None:
        kept = sorted(self._engine.slots.glob("*.slot"), key=lambda path: path.stat().st_mtime)
        for path in kept[:-KEPT]:
            path.unlink(missing_ok=True)
