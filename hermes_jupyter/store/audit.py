"""The audit log: every decision about a call, appended to a file that is never rewritten.

A line is a JSON object. What it holds is masked. Kernels share the file: each line is one write.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hermes_jupyter.events import ApprovalResolved, Event, TurnStarted
from hermes_jupyter.redaction import redact
from hermes_jupyter.store.locks import locked

logger = logging.getLogger(__name__)

MOST_BYTES = 10_000_000
KEPT_FILES = 3
"""Older ones, beside the one that is written to."""
MAX_CHARS = 4_000
MARGIN = 300
"""Looked at beyond what is kept, so that no secret is cut in half before it is found."""


class AuditLog:
    """The log of one user, as one session writes it."""

    def __init__(self, home: Path, session: str, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = home / "jupyter" / "audit.jsonl"
        self._session = session
        self._most_bytes = most_bytes
        self._warned = False

    def listener(self, warn: Callable[[str], None]) -> Callable[[Event], None]:
        """A listener for one turn; ``warn`` is told, once, that nothing can be written.

        What was decided about calls of children their own logs write.
        """
        turn = ""

        def hear(event: Event) -> None:
            nonlocal turn
            if isinstance(event, TurnStarted):
                turn = event.turn
            elif isinstance(event, ApprovalResolved) and not event.request.path:
                self._write({"session": self._session, "turn": turn, **_entry(event)}, warn)

        return hear

    def last(self, count: int) -> list[dict[str, Any]]:
        """The newest entries, oldest first."""
        lines: list[str] = []
        for path in (self.path, *self._older()):
            if len(lines) >= count:
                break
            with suppress(OSError):
                text = path.read_text(encoding="utf-8", errors="replace")
                lines = [*text.splitlines(), *lines]
        return [entry for line in lines[-count:] if (entry := _read(line))]

    def _write(self, entry: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, **entry}, ensure_ascii=True) + "\n"
        try:
            self._append(line.encode())
        except OSError as error:
            logger.warning("the audit log cannot be written", exc_info=True)
            if not self._warned:
                self._warned = True
                warn(f"decisions are not recorded: {self.path} cannot be written ({error})")

    def _append(self, line: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        if size + len(line) > self._most_bytes:
            self._rotate()

    def _rotate(self) -> None:
        with locked(self.path.with_suffix(".lock")):
            if self.path.stat().st_size <= self._most_bytes:
                return  # another kernel was quicker
            *rest, oldest = self._older()
            oldest.unlink(missing_ok=True)
            for older, newer in zip([*rest, oldest][::-1], [self.path, *rest][::-1], strict=True):
                with suppress(FileNotFoundError):
                    newer.rename(older)

    def _older(self) -> list[Path]:
        """From the newest to the oldest."""
        return [self.path.with_suffix(f".{number}.jsonl") for number in range(1, KEPT_FILES + 1)]


def _entry(event: ApprovalResolved) -> dict[str, Any]:
    request = event.request
    ruled = event.by in ("rule", "grant")
    return {
        "decision": event.decision,
        "by": event.by,
        "tool": _masked(request.call.name),
        "shown": _masked(request.shown),
        "cwd": _masked(request.cwd),
        "reason": _masked(request.reason),
        "effects": [_masked(each) for each in request.effects],
        "purpose": _masked(request.purpose),
        "asker": _masked(request.asker),
        # Which rule decided, or which one was made by the decision.
        "rule": _masked(event.note if ruled else _made(event)),
        "note": "" if ruled else _masked(event.note),
        "edited": "" if event.edited is None else _masked(event.edited),
    }


def _made(event: ApprovalResolved) -> str:
    return event.request.rule if event.decision == "always" else ""


def _masked(text: str) -> str:
    masked = redact(text[: MAX_CHARS + MARGIN])
    return masked if len(text) <= MAX_CHARS else f"{masked[:MAX_CHARS]}…"


def _read(line: str) -> dict[str, Any] | None:
    with suppress(ValueError):
        entry = json.loads(line)
        if isinstance(entry, dict) and {"time", "decision", "by", "tool", "shown"} <= entry.keys():
            return {"edited": "", **entry}
    return None
