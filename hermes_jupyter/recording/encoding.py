"""Recordings as JSON, and back. What comes back is checked: it may come from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.canonical import digest, portable
from hermes_jupyter.errors import RecordingError
from hermes_jupyter.events import (
    BatchStarted,
    Event,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.recording.schema import fault
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.store.sessions.event_rows import KINDS, event_of, row_of
from hermes_jupyter.store.sessions.masking import dumped, masked, masked_value
from hermes_jupyter.text import mended

FORMAT = "hermes-recording"
VERSION = 1
MAX_BYTES = 64 << 20
"""Of a recording that is read."""
MAX_CELL_CHARS = 1_000
_TEXT_APART = ("TurnStarted", "StepFinished", "TurnFinished", "ToolCallFinished")
"""Events whose long text is stored apart from the rest."""


def as_json(recording: Recording) -> dict[str, Any]:
    """The recording for files; always the same for the same, secrets masked."""
    told: dict[str, Any] = {
        "format": FORMAT,
        "v": VERSION,
        "turn": recording.turn,
        "session_id": recording.session_id,
        "prompt_sha256": recording.prompt_sha256,
        "depends_sha256": recording.depends_sha256,
        "line": masked(recording.line),
        "cell": mended(recording.cell)[:MAX_CELL_CHARS],
        "at": recording.at,
        "travels": recording.travels,
        "model": masked(recording.model),
        "tools": list(recording.finished.tools),
        "events": [_event_as_json(event) for event in recording.events],
    }
    told = portable(told)
    return {**told, "sha256": digest(told)}


def _event_as_json(event: Event) -> dict[str, Any]:
    inner = inner_of(event)
    if inner is not None:
        around = {field.name: getattr(event, field.name) for field in fields(event)}
        told = masked_value({name: value for name, value in around.items() if name != "event"})
        return {"type": type(event).__name__, **told, "event": _event_as_json(inner)}
    row = row_of(event, {})
    text = {} if row.text is None else {"text": row.text}
    told = {"type": row.kind, **text, **(json.loads(row.body) if row.body else {})}
    for call in told.get("calls", ()):
        if (order := [*call.get("args", {})]) != sorted(order):
            call["order"] = order  # a notebook's file has the keys of all objects sorted
    return told


def _in_order(call: dict[str, Any]) -> dict[str, Any]:
    """A call with its arguments as the model gave them."""
    args, order = call.get("args"), call.get("order")
    if not isinstance(args, dict) or not isinstance(order, list):
        return call
    named = [name for name in order if isinstance(name, str) and name in args]
    return {**call, "args": {name: args[name] for name in [*dict.fromkeys([*named, *args])]}}


def inner_of(event: Event) -> Event | None:
    """The event that this one tells of, if it is one about what another agent did."""
    inner = getattr(event, "event", None)
    return inner if isinstance(inner, Event) else None


def of_text(text: str) -> Recording:
    """The recording in a file.

    Raises
    ------
    RecordingError
        If it is none, or not whole.
    """
    if len(text) > MAX_BYTES:
        raise RecordingError(f"the recording has {len(text):,} characters, too many to be read")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"the recording is no JSON, or was cut: {error}") from None
    return of_json(value)


def of_json(value: Any) -> Recording:
    """The recording in a JSON value. Raises as `of_text`."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise RecordingError("this is no recording of a turn")
    version = value.get("v")
    if isinstance(version, int) and version > VERSION:
        raise RecordingError(
            f"the recording was made by a newer hermes-jupyter (version {version}, this one knows "
            f"{VERSION}); upgrade it with pip install -U hermes-jupyter"
        )
    try:
        if wrong := fault(value, "recording-v1"):
            raise RecordingError(f"the recording is damaged: {wrong}")
        told = {name: each for name, each in value.items() if name != "sha256"}
        if digest(told) != value["sha256"]:
            raise RecordingError("the recording was cut or changed since it was made")
        events = tuple(_events(value["events"]))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise RecordingError(f"the recording is damaged: {error}") from None
    if len(events) < 2 or not isinstance(events[0], TurnStarted):
        raise RecordingError("the recording is damaged: its beginning is missing")
    if not isinstance(events[-1], TurnFinished):
        raise RecordingError("the recording is damaged: its end is missing")
    return Recording(
        turn=value["turn"],
        session_id=value["session_id"],
        prompt_sha256=value["prompt_sha256"],
        line=value["line"],
        cell=value["cell"],
        at=value["at"],
        travels=value["travels"],
        events=events,
    )


def _events(told: Iterable[dict[str, Any]]) -> Iterable[Event]:
    """The events; those of kinds that are not known here play no part."""
    calls: dict[str, ToolCall] = {}
    for each in told:
        if isinstance(each.get("event"), dict):
            yield from _around(each)
            continue
        apart = ("type", "text") if each["type"] in _TEXT_APART else ("type",)
        rest = {name: value for name, value in each.items() if name not in apart}
        if isinstance(rest.get("calls"), list):
            rest["calls"] = [*map(_in_order, rest["calls"])]
        event = event_of(each["type"], each.get("text"), dumped(rest))
        match event:
            case None:
                continue
            case BatchStarted(calls=wanted):
                calls.update((call.id, call) for call in wanted)
            case ToolCallStarted(call=call):
                event = replace(event, call=calls.get(call.id, call))
            case ToolCallFinished(result=result):
                whole = calls.get(result.call.id, result.call)
                event = replace(event, result=replace(result, call=whole))
        yield event


def _around(told: dict[str, Any]) -> Iterator[Event]:
    """An event that tells of another one; nothing if either is not known here."""
    kind: type[Any] | None = KINDS.get(told["type"])
    if kind is None:
        return
    known = {field.name for field in fields(kind)} - {"event"}
    about = {name: value for name, value in told.items() if name in known}
    for inner in _events([told["event"]]):
        yield kind(**about, event=inner)
