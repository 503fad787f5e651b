"""The trace: what was dispatched lately, and what the road made of it. For people who look why."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from hermes_jupyter.calls import CallStatus, Decision, ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    ChildFinished,
    ChildStarted,
    ChildTold,
    Event,
    ToolCallFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.road.coercion.changes import changes_between
from hermes_jupyter.text import json_object

MAX_DISPATCHES = 200
MAX_ARGS_CHARS = 2_000
MAX_TEXT_CHARS = 500
"""Of one text among the arguments."""
MAX_ERROR_CHARS = 100_000
"""A longer answer is not looked into."""
MAX_ITEMS = 12
MAX_DEPTH = 3
_MARGIN = 300
"""Looked at beyond what is kept, so that no secret is cut in half before it is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """One call of a tool, from the model's wish to its answer. Secrets are masked."""

    turn: str
    at: float
    """When it was wanted, in seconds since 1970."""
    tool: str
    args: str
    """As the model wrote them, as JSON text; cut if long."""
    changes: tuple[str, ...]
    """What coercion made of them, place by place."""
    status: CallStatus
    exit_code: int
    seconds: float
    chars: int
    """Of the whole answer."""
    handle: str
    """Where the whole answer is kept, if the model got a part of it."""
    decisions: tuple[tuple[Decision, str], ...]
    """What was decided about it, and by whom."""
    error: str
    """What went wrong, if something did."""


class Trace:
    """The last dispatches of a kernel. Safe to read from any thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._dispatches: deque[Dispatch] = deque(maxlen=MAX_DISPATCHES)

    def listener(self) -> TurnTrace:
        """A listener for one turn."""
        return TurnTrace(self._add, self._clock)

    def dispatches(self, turn: str | None = None) -> list[Dispatch]:
        """What was dispatched, oldest first; of one turn, or of all that are remembered."""
        with self._lock:
            return [each for each in self._dispatches if turn in (None, each.turn)]

    def _add(self, dispatch: Dispatch) -> None:
        with self._lock:
            self._dispatches.append(dispatch)


class TurnTrace:
    """Listens to one turn."""

    def __init__(self, add: Callable[[Dispatch], None], clock: Callable[[], float]) -> None:
        self._add, self._clock = add, clock
        self._wanted: dict[str, float] = {}
        self._decisions: dict[str, list[tuple[Decision, str]]] = {}
        self._children: dict[str, TurnTrace] = {}
        self.turn = ""

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(turn=turn):
                self.turn = turn
            case BatchStarted(calls=calls):
                self._wanted.update((call.id, self._clock()) for call in calls)
            case ChildStarted(child=child):
                self._children[child.id] = TurnTrace(self._adder(child.name), self._clock)
            case ChildTold(child=name, event=told) if name in self._children:
                self._children[name](told)
            case ChildFinished(child=child):
                self._children.pop(child.id, None)
            case ApprovalResolved(request=request, decision=decision, by=by) if not request.path:
                self._decisions.setdefault(request.call.id, []).append((decision, by))
            case ToolCallFinished(result=result):
                self._add(self._dispatch(result))

    def _adder(self, child: str) -> Callable[[Dispatch], None]:
        """What adds the dispatches of a child: they are this turn's, and say whose."""
        said = f" ({_masked(child, 60)})"
        return lambda each: self._add(replace(each, turn=self.turn, tool=f"{each.tool}{said}"))

    def _dispatch(self, result: ToolResult) -> Dispatch:
        call = result.call
        return Dispatch(
            turn=self.turn,
            at=self._wanted.pop(call.id) if call.id in self._wanted else self._clock(),
            tool=call.name[:100],
            args=shown(call.args),
            changes=_changes(call, result.args),
            status=result.status,
            exit_code=result.exit_code,
            seconds=result.seconds,
            chars=result.total_chars or len(result.text),
            handle=result.handle,
            decisions=tuple(self._decisions.pop(call.id, ())),
            error="" if result.status == "ok" else _masked(_error_of(result), MAX_TEXT_CHARS),
        )


def shown(args: Mapping[str, Any]) -> str:
    """Arguments as JSON text of bounded size, masked."""
    text = json.dumps(_shortened(args, MAX_DEPTH), ensure_ascii=False, default=repr)
    return _masked(text, MAX_ARGS_CHARS)


def _error_of(result: ToolResult) -> str:
    answer = json_object(result.text) if len(result.text) <= MAX_ERROR_CHARS else None
    return str((answer or {}).get("error") or result.mistake)


def _changes(call: ToolCall, after: Mapping[str, Any] | None) -> tuple[str, ...]:
    if after is None or after is call.args:
        return ()
    found = list(islice(changes_between(dict(call.args), dict(after)), MAX_ITEMS + 1))
    told = tuple(_masked(str(change), MAX_TEXT_CHARS) for change in found[:MAX_ITEMS])
    return told if len(found) <= MAX_ITEMS else (*told, "…")


def _shortened(value: Any, depth: int) -> Any:
    """A copy of a JSON value in which nothing is long, deep or many."""
    match value:
        case str():
            return _masked(value, MAX_TEXT_CHARS)
        case int() if not -(10**100) < value < 10**100:  # Python may refuse to write it
            return f"(an integer of {value.bit_length():,} bits)"
        case Mapping() | list() | tuple() if value and not depth:
            return "…"
        case Mapping():
            kept = islice(value.items(), MAX_ITEMS)
            short = {_masked(str(key), 100): _shortened(each, depth - 1) for key, each in kept}
            return short | ({"…": _more(value)} if len(value) > MAX_ITEMS else {})
        case list() | tuple():
            kept_items = [_shortened(each, depth - 1) for each in value[:MAX_ITEMS]]
            return kept_items + ([_more(value)] if len(value) > MAX_ITEMS else [])
    return value


def _more(container: Sized) -> str:
    return f"… {len(container) - MAX_ITEMS:,} more"


def _masked(text: str, limit: int) -> str:
    """Redacted text, cut to about ``limit`` characters."""
    masked = redact(text[: limit + _MARGIN])
    return masked if len(text) <= limit else f"{masked[:limit]}… ({len(text):,} characters)"
