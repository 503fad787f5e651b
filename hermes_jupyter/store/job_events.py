"""What background jobs have done and the model has not heard yet: kept until it has.

One file for each session of a kernel. A line says an event, or the id of one that needs no more
telling. An id is known for ever, so the same happening is told once, however often it is found.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.environments.job_events import JobEvent

logger = logging.getLogger(__name__)

WEEK = 7 * 86_400.0


class JobEvents:
    """The events of one session. Safe to use from any thread.

    Parameters
    ----------
    owner
        The kernel, by the name that it keeps when it is started again.
    """

    def __init__(self, home: Path, owner: str, session: str) -> None:
        name = hashlib.sha256(f"{owner}\0{session}".encode("utf-8", "replace")).hexdigest()[:24]
        self.path = home / "jupyter" / "job_events" / f"{name}.jsonl"
        self._lock = threading.Lock()  # guards the two below, and the order in the file
        self._pending: dict[str, JobEvent] = {}
        self._known: set[str] = set()
        self._read()

    def add(self, event: JobEvent) -> None:
        """Take an event; one whose id is known already changes nothing."""
        with self._lock:
            if event.id not in self._known:
                self._known.add(event.id)
                self._pending[event.id] = event
                self._append({"event": asdict(event)})

    def withdraw(self, event_id: str) -> None:
        """What it says is known by now: it shall not be told, also if it comes later."""
        self.told([event_id])

    def pending(self) -> tuple[JobEvent, ...]:
        """What the model has not heard yet, oldest first."""
        with self._lock:
            return tuple(self._pending.values())

    def told(self, event_ids: list[str]) -> None:
        """The model has heard of these."""
        with self._lock:
            for event_id in event_ids:
                if self._pending.pop(event_id, None) or event_id not in self._known:
                    self._known.add(event_id)
                    self._append({"told": event_id})

    def clear(self) -> None:
        """Forget all: the conversation is over."""
        with self._lock:
            self._pending.clear()
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return
        except OSError:
            logger.warning("the events of jobs cannot be read", exc_info=True)
            return
        for line in text.splitlines():
            with suppress(ValueError, TypeError, KeyError):  # a crash may have cut one
                self._replay(json.loads(line))

    def _replay(self, said: dict[str, Any]) -> None:
        if "told" in said:
            self._known.add(said["told"])
            self._pending.pop(said["told"], None)
        else:
            event = JobEvent(**said["event"])
            self._known.add(event.id)
            self._pending[event.id] = event

    def _append(self, said: dict[str, Any]) -> None:
        # Each begins a new line, whatever a crash has left of the one before.
        line = "\n" + json.dumps(said, ensure_ascii=True)
        try:
            if not self.path.parent.is_dir():
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(self.path, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size == 0:
                    _sweep(self.path)
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)
        except OSError:  # it is told all the same, but not after a crash
            logger.warning("an event of a job cannot be written down", exc_info=True)


def _sweep(own: Path) -> None:
    """Remove what kernels have left that wrote nothing for a week."""
    oldest = time.time() - WEEK
    for path in own.parent.glob("*.jsonl"):
        with suppress(OSError):
            if path != own and path.stat().st_mtime < oldest:
                path.unlink()
