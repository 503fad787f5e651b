"""A conversation for programs: what the model reads, and all that happened."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from hermes_jupyter.exports.turns import Conversation
from hermes_jupyter.store.sessions.reading import Entry, history

VERSION = 1


def as_json(conversation: Conversation) -> str:
    """``{"version", "session", "messages", "events"}``; messages as Chat Completions has them.

    A message that the model does not read any more says why under ``gone``.
    """
    about = asdict(conversation.about)
    told = {
        "version": VERSION,
        "session": {
            **{name: value for name, value in about.items() if name not in ("number", "running")},
            "created": _time(conversation.about.created),
            "updated": _time(conversation.about.updated),
        },
        "messages": [_message(entry) for entry in conversation.entries if entry.is_message],
        "events": [
            {"id": entry.place, "at": _time(entry.at), "type": entry.kind, **asdict(event)}
            for entry, event in history(iter(conversation.entries))
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"


def _message(entry: Entry) -> dict[str, Any]:
    gone = {"gone": entry.gone} if entry.gone else {}
    return {"id": entry.place, "at": _time(entry.at), **gone, **entry.message}


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
