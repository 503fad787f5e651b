"""Events as they are stored, and back: the name of the class, one long text, the rest as JSON.

A field that is not known here, of a newer or an older program, plays no part when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple

from hermes_jupyter import calls, events
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    Event,
    MessageSaid,
    StepFinished,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.store.sessions.masking import dumped, masked, masked_value
from hermes_jupyter.text import mended

KINDS: Mapping[str, type[Event]] = {
    kind.__name__: kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
}
_PARTS: Mapping[str, type[Any]] = {
    "call": ToolCall,
    "calls": ToolCall,
    "result": ToolResult,
    "request": calls.ApprovalRequest,
    "question": calls.Question,
    "child": calls.Child,
    "usage": calls.Usage,
}
"""What the fields of an event hold that are no plain values."""


class Row(NamedTuple):
    """What an entry holds beside its id and its time."""

    kind: str
    text: str | None
    body: str | None


def row_of(event: Event, known_args: Mapping[str, Mapping[str, Any]]) -> Row:
    """An event as it is stored.

    Parameters
    ----------
    known_args
        The arguments of calls that a stored message of the model holds: they are not said again.
    """
    kind = type(event).__name__
    match event:
        case TurnStarted(prompt=prompt):
            return Row(kind, masked(prompt), _body(event, without="prompt"))
        case StepFinished(text=text):
            return Row(kind, masked(text), _body(event, without="text"))
        case TurnFinished(text=text) | MessageSaid(text=text):
            return Row(kind, masked(text), _body(event, without="text"))
        case BatchStarted(calls=wanted):
            told = [_call(call, known_args.get(call.id)) for call in wanted]
            return Row(kind, None, dumped({"calls": told}))
        case ToolCallStarted(call=call, at=at):
            when = {"at": at} if at else {}
            return Row(kind, None, dumped({"call": _call(call, known_args.get(call.id)), **when}))
        case ToolCallFinished(result=result):  # its text is masked already
            about: dict[str, Any] = {
                "call": _filled(
                    {
                        "id": mended(result.call.id),
                        "name": mended(result.call.name),
                        "by": mended(result.call.by),
                    }
                ),
                "status": result.status,
                "seconds": round(result.seconds, 3),
                "exit_code": result.exit_code,
                "mistake": masked(result.mistake),
                "handle": result.handle,
                "total_chars": result.total_chars,
                "details": result.details,  # masked, too
            }
            return Row(kind, mended(result.text), dumped({"result": _filled(about)}))
        case ApprovalRequested(request=request) | ApprovalResolved(request=request):
            about = {**_plain(event), "request": {**asdict(request), "call": _call(request.call)}}
            return Row(kind, None, dumped(masked_value(about)))
    return Row(kind, None, _body(event))


def event_of(kind: str, text: str | None, body: str | None) -> Event | None:
    """The event of a row; None for kinds that are not known here."""
    made = KINDS.get(kind)
    if made is None:
        return None
    told = json.loads(body) if body else {}
    match kind:
        case "TurnStarted":
            told["prompt"] = text or ""
        case "StepFinished" | "TurnFinished" | "TextStreamed" | "ReasoningStreamed" | "MessageSaid":
            told["text"] = text or ""
        case "ToolCallFinished":
            told["result"]["text"] = text or ""
    try:
        return made(**{name: _part(name, value) for name, value in _known(made, told).items()})
    except TypeError:  # a field is missing: of a version that this one cannot know
        return None


def _body(event: Event, without: str = "") -> str:
    return dumped(masked_value(_plain(event, without)))


def _plain(event: Event, without: str = "") -> dict[str, Any]:
    return {name: value for name, value in asdict(event).items() if name != without}


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", 0, None)}


def _call(call: ToolCall, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    told = {
        "id": call.id,
        "name": call.name,
        "error": call.error,
        "mistake": call.mistake,
        "by": call.by,
        "about": call.about,
    }
    args = {} if known is not None and known == call.args else {"args": dict(call.args)}
    return dict(masked_value({**_filled(told), **args}))


def _known(kind: type[Any], told: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in told.items() if name in names}


def _part(name: str, value: Any) -> Any:
    made = _PARTS.get(name)
    if made is None:
        return tuple(value) if isinstance(value, list) else value
    if isinstance(value, list):
        return tuple(_part(name, each) for each in value)
    return made(**{inner: _part(inner, each) for inner, each in _known(made, value).items()})
