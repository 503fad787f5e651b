"""What ``%hermes status`` knows and need not wait for, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_jupyter.control.answering import UNBEGUN
from hermes_jupyter.redaction import redact
from hermes_jupyter.session import Session
from hermes_jupyter.views.sanitize import one_line

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes


def status_of(hermes: Hermes) -> Mapping[str, Any]:
    """The kernel's settings and conversations; nothing that would have to be looked up."""
    settings = hermes.settings
    return {
        **UNBEGUN,
        "begun": True,
        "model": _line(settings.model),
        "at": _line(settings.base_url or settings.provider),
        "approvals": settings.approvals,
        "rules": {
            "allow": len(settings.allow),
            "ask": len(settings.ask),
            "deny": len(settings.deny),
        },
        "session": _line(hermes.current),
        "sessions": [_session(each) for each in hermes.sessions()],
        "max_steps": settings.max_steps,
        "max_tokens": settings.max_tokens,
        "max_cost": settings.max_cost,
    }


def _session(session: Session) -> Mapping[str, Any]:
    usage = session.usage
    return {
        "name": _line(session.name),
        "id": session.id,
        "busy": session.busy,
        "terminal": session.terminals.chosen,
        "tokens": usage.tokens,
        "cost": usage.cost,
        "unpriced_calls": usage.unpriced_calls,
    }


def _line(text: str) -> str:
    return one_line(redact(text), 200)
