"""The record of a turn for programs: a versioned JSON object, see docs/record.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hermes_jupyter.canonical import depends_on, portable, prompt_sha256
from hermes_jupyter.events import TurnFinished, TurnStarted
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.entries import Entries
from hermes_jupyter.views.limits import Omitted, Part, told
from hermes_jupyter.views.sanitize import one_line

MIME = "application/vnd.hermes.turn+json"
VERSION = 2
NOBODY = TurnStarted(session="", turn="", prompt="", model="", steps=0)
"""Stands for the beginning that was not heard."""
MAX_TOOLS = 200
_LEFT_OUT = re.compile(r"\n… [\d,]+ of [\d,]+ characters left out …\n")


def turn_of(parts: Sequence[Part], entries: Entries, finished: TurnFinished) -> dict[str, Any]:
    """The record, its keys always in the same order."""
    started = entries.started or NOBODY
    prompt = started.asked_sha256 or prompt_sha256(started.prompt)
    model = one_line(finished.model or started.model, 60)
    tools = [one_line(name, 100) for name in finished.tools[:MAX_TOOLS]]
    turn = {
        "v": VERSION,
        "session": started.session,
        "session_id": started.session_id,
        "turn": started.turn,
        "after": started.after,
        "cell": one_line(started.cell, 200),
        "prompt_sha256": prompt,
        "depends_sha256": depends_on(prompt, started.line, model, tools),
        "line": one_line(redact(started.line), 500),
        "status": finished.status,
        "ended": words.ended(finished),
        "model": model,
        "tools": tools,
        "steps": finished.steps,
        "seconds": round(finished.seconds, 3),
        "events": [*map(told, parts)],
        "usage": asdict(finished.usage),
        "changed": dict(finished.changed),
    }
    if left_out(parts):
        turn["whole"] = {"session_id": started.session_id, "turn": started.turn}
    if started.replayed:
        turn["replayed"] = {"how": started.replayed, "recorded_at": started.recorded_at}
    return dict(portable(turn))


def left_out(parts: Sequence[Part]) -> bool:
    """Is there more in the session store than in these parts?"""
    return any(isinstance(part, Omitted) or _is_cut(part) for part in parts)


def _is_cut(part: Part) -> bool:
    texts = [getattr(part, name, "") for name in ("text", "args", "result", "edited", "answer")]
    return any(isinstance(text, str) and _LEFT_OUT.search(text) for text in texts)
