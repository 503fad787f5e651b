"""What a model is told of a call that may not run, and the remarks of people on one that may."""

from __future__ import annotations

import json

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.text import json_object
from tools.registry import tool_error

INSTEAD = (
    "It was not run. Do not try it again in another way; go on without it or tell the user what "
    "you would have done."
)


def denied(why: str, *, by: str, then: str = INSTEAD, status: str = "denied") -> str:
    """The answer to a call that was not run."""
    return tool_error(f"Denied: {why}. {then}", status=status, denied_by=by)


def forbidden(reason: str) -> str:
    return denied(f"it {reason}, which nobody may approve", by="safety")


def by_mode(reason: str) -> str:
    return denied(f"it {reason} and approvals are set to deny", by="mode")


def by_user(note: str) -> str:
    """A person has said no, and perhaps why."""
    if not note.strip():
        return denied("the user said no", by="user")
    then = "It was not run. Do what the user says there instead."
    return denied(f"the user said no, and: {note.strip()!r}", by="user", then=then)


def silence(seconds: float) -> str:
    return denied(
        f"nobody answered within {seconds:g} s, and silence is no consent",
        by="silence",
        status="timed_out",
    )


BY_RULE = denied("a rule of the user forbids it", by="rule")
NOBODY = denied("it needs an approval and nobody can be asked here", by="policy")
ENDED = denied("the turn ended before anybody answered", by="interrupt")
EARLIER = denied("the user has denied it earlier in this turn, in these or other words", by="user")
TOO_LONG = denied("it is too long for a person to judge", by="safety")
CHANGED = denied("what it would do changed each time the user had agreed", by="safety")
PLANNING = denied(
    "this turn is for planning, and it may change something",
    by="mode",
    then="It was not run. Look at what you need with tools that only read, then tell the user "
    "your plan, step by step, and wait for their word.",
)


def remarked(text: str, *, note: str = "", edited: ToolCall | None = None) -> str:
    """The answer of a call that ran, with what a person said or changed before it did."""
    said: dict[str, object] = {"user_note": note} if note.strip() else {}
    if edited is not None:
        said["user_edited"] = f"The user changed the call before it ran, to: {_args(edited)}"
    if not said:
        return text
    answer = json_object(text)
    if answer is not None:
        return json.dumps({**said, **answer}, ensure_ascii=False)
    lines = "\n".join(f"[{key}: {value}]" for key, value in said.items())
    return f"{lines}\n{text}"


def _args(call: ToolCall) -> str:
    return json.dumps(dict(call.args), ensure_ascii=False, default=str)
