"""What a person is shown of a call that needs an answer."""

from __future__ import annotations

import json
import secrets

from hermes_jupyter.calls import ApprovalRequest, digest_of
from hermes_jupyter.road.cases import Case

MAX_PURPOSE_CHARS = 300
EDITABLE = ("command", "data", "code")
"""Arguments that a person may change: those that are what runs."""
SCRIPT = "a script of the agent"
EXACTLY = "this exact call in this folder"


def request_for(
    case: Case, folder: str, *, reason: str = "", rule: str = "", purpose: str = ""
) -> ApprovalRequest:
    """The question about a call.

    Parameters
    ----------
    folder
        The session's; where the call would work is known to the case.
    reason
        Why it asks, if its guard does not.
    rule
        What "always" would keep.
    purpose
        What the model has said before the call.
    """
    objection, call = case.objection, case.call
    return ApprovalRequest(
        id=secrets.token_hex(8),
        call=call,
        reason=objection.reason if objection else reason or f"calls {call.name}",
        shown=objection.shown if objection else shown_of(case),
        cwd=(objection.cwd if objection else "") or folder,
        grant=objection.grant if objection else EXACTLY,
        digest=digest_of(call, folder),
        effects=_effects(case),
        purpose=_line(purpose),
        asker=SCRIPT if call.by else "",
        rule=rule,
        editable=next((name for name in EDITABLE if isinstance(call.args.get(name), str)), ""),
        risk=case.risk,
        place=case.files.name,
    )


def shown_of(case: Case) -> str:
    """What runs, if nothing tells it better."""
    if case.command is not None:
        return case.command
    return json.dumps(dict(case.call.args), ensure_ascii=False, indent=2, default=str)


def _effects(case: Case) -> tuple[str, ...]:
    if case.objection is None:
        return ()
    told = [str(getattr(each, "reason", "")) for each in getattr(case.objection, "effects", ())]
    return tuple(dict.fromkeys(filter(None, told))) or tuple(case.objection.reason.split("; "))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_PURPOSE_CHARS else f"{line[: MAX_PURPOSE_CHARS - 1]}…"
