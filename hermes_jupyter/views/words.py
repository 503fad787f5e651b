"""The words and numbers that all views use, so that they say the same thing the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.calls import CallStatus, ChildStatus, Decision, ToolCall, TurnStatus, Usage
from hermes_jupyter.events import (
    ApprovalResolved,
    ChildFinished,
    RetryPlanned,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.text import json_object
from hermes_jupyter.views.base import Emoji
from hermes_jupyter.views.sanitize import one_line

CALL_STATES: Mapping[CallStatus, tuple[str, str]] = {
    "ok": ("✓", "done"),
    "error": ("✗", "failed"),
    "denied": ("⊘", "denied"),
    "timeout": ("✗", "timed out"),
    "interrupted": ("◼", "interrupted"),
}
"""Sign and word for how a call ended."""

DETAILS = "In full"
"""What a person may read beyond what the model was told, such as a traceback."""

DECISIONS: Mapping[Decision, tuple[str, str]] = {
    "once": ("✓", "Allowed once"),
    "session": ("✓", "Allowed for this session"),
    "always": ("✓", "Allowed always"),
    "deny": ("⊘", "Denied"),
}
TURN_STATES: Mapping[TurnStatus, str] = {
    "done": "Done",
    "stopped": "Stopped",
    "interrupted": "Interrupted",
    "failed": "Failed",
}
CHILD_STATES: Mapping[ChildStatus, tuple[str, str]] = {
    "completed": ("✓", "done"),
    "failed": ("✗", "not finished"),
    "error": ("✗", "failed"),
    "interrupted": ("◼", "interrupted"),
}
YOU = "You:"
"""Before what the person said while the turn ran."""
NOTHING: Mapping[str, int] = {}
_DECIDED_BY = {
    "widget": "by you",
    "input": "by you",
    "policy": "because nobody could be asked",
    "interrupt": "because the turn was interrupted",
    "rule": "by a rule of yours",
    "mode": "because approvals are set so",
    "isolation": "because it runs shut in",
    "grant": "by what you allowed before",
    "judge": "by the model that looks first",
    "safety": "because nobody may approve it",
    "earlier": "because you denied it before",
    "timeout": "because nobody answered in time",
    "program": "by the program",
    "message": "by you on another page",
    "panel": "by you in the panel",
    "page": "by you on the server's page",
}
_ELSEWHERE = frozenset({"message", "panel", "page"})
_SOMEBODY = _ELSEWHERE | {"widget", "input", "judge"}
_TELLING = (
    "command", "path", "file_path", "query", "pattern", "url", "code", "name", "task", "goal",
)  # fmt: skip
"""Arguments that say most about a call, best first."""
_MAIN = frozenset({"content", "error", "output", "result", "text"})
"""Fields of an answer that need no name when they are alone."""


def short_args(call: ToolCall, limit: int = 80) -> str:
    """A line that tells one call from another."""
    if call.about:
        return one_line(redact(call.about[: 20 * limit]), limit)
    for name in _TELLING:
        value = call.args.get(name)
        if isinstance(value, str) and value.strip():
            return one_line(redact(value[: 20 * limit].strip()).replace("\n", " ↵ "), limit)
    if (tasks := call.args.get("tasks")) and isinstance(tasks, list | tuple):
        return count(len(tasks), "task")
    pairs = (f"{name}={_short(value)}" for name, value in call.args.items())
    return one_line(redact(" ".join(pairs)), limit)


def is_said(call: ToolCall) -> bool:
    """Whether `short_args` says all there is to say."""
    return list(call.args.values()) == [short_args(call)] or not call.args


def ending(status: CallStatus, seconds: float, exit_code: int = 0) -> str:
    """ "✓ done · 0.2 s"."""
    sign, word = CALL_STATES[status]
    if status == "ok" and exit_code:
        sign, word = "•", f"exit code {exit_code}"
    time = f" · {seconds_text(seconds)}" if seconds >= 0.05 else ""
    return f"{sign} {word}{time}"


def about(call: ToolCall, emoji: Emoji) -> str:
    """ "💻 terminal  ls -la"."""
    return f"{emoji(call.name)} {one_line(call.name, 60)}  {short_args(call)}".strip()


def ended(finished: TurnFinished) -> str:
    """ "Stopped: no steps left"."""
    reason = one_line(redact(finished.reason[:4_000]), 1_000)
    return TURN_STATES[finished.status] + (f": {reason}" if reason else "")


def readable(values: Mapping[str, Any]) -> str:
    """Named values for people: a line each, longer text below its name."""
    return "\n".join(f"{name}:{_value(value)}" for name, value in values.items())


def readable_result(text: str) -> str:
    """The text of a tool's answer; JSON without its quotes and escapes."""
    answer = json_object(text)
    if answer is None:
        return text
    filled = {name: value for name, value in answer.items() if value not in (None, "", [], {})}
    if len(filled) == 1 and not _MAIN.isdisjoint(filled):
        return _value(*filled.values()).lstrip()
    return readable(filled)


def decided(decision: Decision, by: str) -> str:
    """ "Allowed once by you"."""
    return f"{DECISIONS[decision][1]} {_who(by)}"


def resolved(event: ApprovalResolved) -> str:
    """The same with what came with it: "Denied by you: use staging", "Edited by you"."""
    is_edited = event.edited is not None and event.decision != "deny"
    did = f"Edited {_who(event.by)}" if is_edited else decided(event.decision, event.by)
    more = event.request.rule if event.decision == "always" else event.note[:4_000]
    said = one_line(redact(more), 500)
    return f"{did}: {said}" if said else did


def replied(answer: str | None, by: str) -> str:
    """ "nobody answered", "green", "green (by you in the panel)" where that is not the cell."""
    if answer is None:
        return "nobody answered"
    said = one_line(answer, 500)
    return f"{said} ({_who(by)})" if by in _ELSEWHERE else said


def is_worth_showing(event: ApprovalResolved) -> bool:
    """Did somebody decide, or was it denied? A script may make hundreds of calls that just run."""
    return event.decision == "deny" or event.by in _SOMEBODY


def is_denial(decisions: Sequence[str]) -> bool:
    """Do these words, made by `resolved`, say no?"""
    return any(said.startswith(DECISIONS["deny"][1]) for said in decisions)


def seconds_text(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def count(number: int, noun: str) -> str:
    """ "1 step", "1,204 tokens"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def steps_done(number: int) -> str:
    """ "3 steps"; nothing for a call by hand, which asks no model."""
    return count(number, "step") if number else ""


def footer(
    model: str,
    steps: str,
    usage: Usage,
    seconds: float,
    *,
    started: TurnStarted | None = None,
    changed: Mapping[str, int] = NOTHING,
) -> str:
    """The line below a turn. ``steps`` is in words, since only some views know the limit.

    ``started`` tells the mode of approvals, and the ceilings of which something is left;
    ``changed`` what can be taken back.
    """
    approvals = started.approvals if started else "ask"
    mode = "" if approvals == "ask" else f"approvals {one_line(approvals, 20)}"
    parts = (one_line(model, 60), mode, steps, tokens_of(usage, started), cost_of(usage, started))
    ending = (seconds_text(seconds), again(started) if started else "", undo_of(changed))
    return " · ".join(part for part in (*parts, *ending) if part)


def undo_of(changed: Mapping[str, int]) -> str:
    """ "3 files, 1 variable changed · %hermes undo"; nothing if nothing can be taken back."""
    counted = ", ".join(count(number, kind) for kind, number in changed.items() if number)
    return f"{counted} changed · %hermes undo" if counted else ""


def again(started: TurnStarted) -> str:
    """How a turn was made again; empty if it was not."""
    when = one_line(started.recorded_at, 40).replace("T", " ").removesuffix("Z")[:16]
    match started.replayed:
        case "kept":
            return f"kept from {when} UTC; --fresh asks anew"
        case "tools":
            return f"replayed from {when} UTC, its tools run again"
        case "record":
            return f"replayed from {when} UTC, nothing was run"
    return ""


def compared(number: int) -> str:
    """ "2 calls answered in another way than recorded"."""
    return f"{count(number, 'call')} answered in another way than recorded"


def tokens_of(usage: Usage, started: TurnStarted | None = None) -> str:
    """ "1,204 tokens", or how many of them are left."""
    if started and started.max_tokens:
        left = max(0, started.max_tokens - usage.tokens)
        return f"{count(usage.tokens, 'token')}, {left:,} left"
    return count(usage.tokens, "token") if usage.tokens else ""


def cost_of(usage: Usage, started: TurnStarted | None = None) -> str:
    """ "$0.0042", or how much of it is left; empty if nobody says what it costs."""
    if started and started.max_cost:
        return f"{dollars(usage.cost)}, {dollars(max(0.0, started.max_cost - usage.cost))} left"
    if not usage.cost:
        return ""
    return f"{'more than ' if usage.unpriced_calls else ''}{dollars(usage.cost)}"


def dollars(amount: float) -> str:
    """ "$0.0042", "$1.20"."""
    return f"${amount:.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def child_state(event: ChildFinished) -> str:
    """ "✗ failed: no such model · 3 steps · 2,104 tokens · 12 s"."""
    sign, word = CHILD_STATES[event.status]
    reason = one_line(redact(event.reason[:4_000]), 300)
    why = f": {reason}" if reason else ""
    return " · ".join(
        [f"{sign} {word}{why}", *child_numbers(event.steps, event.usage, event.seconds)]
    )


def child_numbers(steps: int, usage: Usage, seconds: float) -> list[str]:
    """What a child has taken so far."""
    parts = (steps_done(steps), tokens_of(usage), cost_of(usage), seconds_text(seconds))
    return [part for part in parts if part]


def thought(text: str) -> str:
    """ "Thought, 214 words"."""
    return f"Thought, {count(len(text.split()), 'word')}"


def retry(event: RetryPlanned) -> str:
    """ "Trying again in 12 s (2 of 3): too many requests"."""
    when = f" in {seconds_text(event.seconds)}" if event.seconds else ""
    reason = one_line(redact(event.reason), 300)
    return f"Trying again{when} ({event.number} of {event.tries}): {reason}"


def _who(by: str) -> str:
    return _DECIDED_BY.get(by, f"by {one_line(by, 40)}")


def _short(value: Any) -> str:
    return value[:200] if isinstance(value, str) else json.dumps(value, default=str)[:200]


def _value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = "\n".join(value)
    if isinstance(value, str):
        return ("\n" if "\n" in value.strip("\n") else " ") + value.rstrip("\n")
    return " " + json.dumps(value, ensure_ascii=False, default=str)
