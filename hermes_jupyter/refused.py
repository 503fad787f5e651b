"""What was not run in a turn because nobody could be asked: for those who start a run alone."""

from __future__ import annotations

from hermes_jupyter.events import ApprovalResolved
from hermes_jupyter.redaction import redact

MAX_TOLD = 20
MAX_CHARS = 120


class Refusals:
    """Of one turn."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    @property
    def lines(self) -> tuple[str, ...]:
        """One for each call."""
        return tuple(self._lines)

    def note(self, event: ApprovalResolved) -> None:
        """Remember it, if no person has decided."""
        if event.decision == "deny" and event.by in ("policy", "mode"):
            shown = " ".join(event.request.shown.split())
            self._lines.append(f"{event.request.call.name}: {redact(shown)}")

    def told(self, mode: str) -> str:
        """The list for the end of the output; empty if all was run.

        ``mode`` is that of the turn's approvals.
        """
        if not self._lines:
            return ""
        named = [_cut(line) for line in self._lines[:MAX_TOLD]]
        more = len(self._lines) - len(named)
        text = "; ".join([*named, *([f"{more} more"] if more else [])])
        if mode in ("deny", "plan"):
            return f"not run, as approvals are set to {mode}: {text}"
        return f"not run, as nobody could be asked: {text}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"
