"""Close a turn that a dead kernel has left open, so that the conversation can go on.

Nothing is run again. A call that had begun may or may not have done its work: that is what its
result says.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from hermes_jupyter.events import ReasoningStreamed, TextStreamed, TurnFinished
from hermes_jupyter.store.sessions.partials import streamed
from hermes_jupyter.store.sessions.reading import Entry, Stored, entries, transcript
from hermes_jupyter.store.sessions.schema import bounds
from tools.registry import tool_error

ENDED = "the kernel ended while it ran"
UNKNOWN = (
    "The kernel ended while this call ran. It is unknown whether it did its work, in whole or in "
    "part. It was not run again: look what is there before you do anything that repeats it."
)
NOT_RUN = "The kernel ended before this call ran. It was not run."
KEPT_OUTPUT = 4_000


def needed(connection: sqlite3.Connection, number: int) -> list[Any]:
    """What must be added to the session, in order: events, and messages as mappings."""
    turn = _last_turn(connection, number)
    partial = streamed(connection, number)
    said, thought = partial.get(("text", ""), ""), partial.get(("reasoning", ""), "")
    added: list[Any] = []
    if thought:
        added.append(ReasoningStreamed(text=thought))
    if said:
        added.append(TextStreamed(text=said))
    said = said or _unheard(turn)
    added += _messages(transcript(connection, number), turn, partial, said)
    added.append(TurnFinished(status="interrupted", text="", reason=ENDED))
    return added


def _messages(
    messages: Sequence[Stored],
    turn: Sequence[Entry],
    partial: dict[tuple[str, str], str],
    said: str,
) -> Iterator[dict[str, Any]]:
    """What a transcript that broke off needs: results for all calls, and an end."""
    if not messages or messages[-1][2]["role"] == "system":
        return
    open_calls = _unanswered(messages)
    open_calls = _unanswered(messages)
    for name in open_calls:
        yield {"role": "tool", "tool_call_id": name, "content": _told(name, turn, partial)}
    last_words = f"{said}\n\n[interrupted]" if said else f"[The turn ended: {ENDED}]"
    if said and _is_said(messages[-1][2], said):
        return
    if open_calls or said or messages[-1][2]["role"] != "assistant":
        yield {"role": "assistant", "content": last_words}


def _is_said(last: dict[str, Any], said: str) -> bool:
    """Was the message of an interrupted reply written already?"""
    return last["role"] == "assistant" and str(last.get("content")).startswith(said)


def _unheard(turn: Sequence[Entry]) -> str:
    """What a finished step said, if the transcript has not got it."""
    for entry in reversed(turn):
        if entry.kind == "StepFinished":
            return entry.text or ""
        if entry.is_message:
            break
    return ""


def _unanswered(messages: Sequence[Stored]) -> list[str]:
    """Ids of the calls of the last message that have no result."""
    answered: set[str] = set()
    for _, _, message in reversed(messages):
        if message["role"] == "tool":
            answered.add(str(message["tool_call_id"]))
            continue
        calls = [str(call["id"]) for call in message.get("tool_calls") or ()]
        return [name for name in calls if name not in answered]
    return []


def _told(name: str, turn: Sequence[Entry], partial: dict[tuple[str, str], str]) -> str:
    """What the model reads as the result of a call: its own, or how far it came."""
    began = False
    for entry in reversed(turn):
        about = json.loads(entry.body) if entry.body else {}
        if entry.kind == "ToolCallFinished" and about["result"]["call"]["id"] == name:
            return entry.text or ""
        began |= entry.kind == "ToolCallStarted" and about["call"]["id"] == name
        if entry.kind == "assistant":  # ids may come again in the steps of a turn
            break
    if not began:
        return tool_error(NOT_RUN, status="not run")
    printed = partial.get(("output", name), "")[-KEPT_OUTPUT:]
    kept = {"partial_output": printed} if printed else {}
    return tool_error(UNKNOWN, status="unknown whether it ran", **kept)


def _last_turn(connection: sqlite3.Connection, number: int) -> list[Entry]:
    """The entries from the beginning of the last turn on."""
    first, last = bounds(number)
    found = connection.execute(
        "SELECT id FROM entries WHERE id BETWEEN ? AND ? AND kind = 'TurnStarted'"
        " ORDER BY id DESC LIMIT 1",
        (first, last),
    ).fetchone()
    return [*entries(connection, number, found[0] - first)] if found else []
