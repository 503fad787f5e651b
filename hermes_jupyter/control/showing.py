"""What a person is shown elsewhere of a request, and the digest of that.

All text is plain, and harmless as text: what has no ink is spelled out as on the card in the
cell, and secrets are masked. Whoever shows it must not read it as HTML.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, Question
from hermes_jupyter.events import ApprovalResolved, QuestionAnswered
from hermes_jupyter.redaction import redact, redact_command
from hermes_jupyter.views import words
from hermes_jupyter.views.diff_lines import is_diff
from hermes_jupyter.views.sanitize import one_line, reveal

AGENT = "agent"
EFFECTS = 40

Shown = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Where:
    """The turn that asks."""

    turn: str
    session: str
    cell: str


def request_shown(request: ApprovalRequest, where: Where, asked_at: float) -> Shown:
    """An approval request, with all that a person needs to decide."""
    exactly = reveal(redact_command(request.shown))
    has_diff = is_diff(exactly)
    asked = str(request.call.args.get(request.editable, "")) if request.editable else ""
    shown = {
        "id": request.id,
        "turn": where.turn,
        "session": where.session,
        "cell": where.cell,
        "who": one_line(redact(request.asker), 120) or AGENT,
        "tool": one_line(request.call.name, 60),
        "what": reveal(words.short_args(request.call, 300)) if has_diff else exactly,
        "diff": exactly if has_diff else "",
        "folder": reveal(request.cwd),
        "place": one_line(request.place, 120),
        "effects": [one_line(redact(each), 200) for each in request.effects[:EFFECTS]],
        "effects_left_out": max(0, len(request.effects) - EFFECTS),
        "risk": request.risk,
        "reasons": [one_line(redact(each), 500) for each in request.reason.split("; ")],
        "purpose": one_line(redact(request.purpose[:4_000]), 400),
        "grant": one_line(redact(request.grant), 300),
        "rule": reveal(request.rule),
        "choices": _choices(request),
        # As the card's field: it would run as it is written here, so nothing in it is masked.
        "edit": {"name": request.editable, "text": reveal(asked)} if request.editable else None,
    }
    return {**shown, "digest": _digest(shown, request.digest), "asked_at": asked_at}


def question_shown(question: Question, where: Where, asked_at: float) -> Shown:
    """A question of the model, or for a password."""
    shown = {
        "id": question.id,
        "turn": where.turn,
        "session": where.session,
        "cell": where.cell,
        "text": reveal(redact(question.text)),
        "options": [one_line(each, 200) for each in question.choices],
        "secret": question.secret,
    }
    return {**shown, "digest": _digest(shown, ""), "asked_at": asked_at}


def ruling_shown(event: ApprovalResolved) -> Shown:
    """How a request was answered: by whom, and in words."""
    return {"decision": event.decision, "by": event.by, "said": words.resolved(event)}


def reply_shown(event: QuestionAnswered) -> Shown:
    """That a question was answered; not with what."""
    is_answered = event.answer is not None
    return {"decision": "answered" if is_answered else "unanswered", "by": event.by, "said": ""}


def _choices(request: ApprovalRequest) -> list[str]:
    always = ["always"] if request.rule else []
    edit = ["edit"] if request.editable else []
    return ["once", "session", *always, "deny", *edit]


def _digest(shown: Shown, exact: str) -> str:
    """Of what was shown, and of the call itself: two calls may look the same."""
    body = json.dumps([shown, exact], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(body.encode("ascii")).hexdigest()
