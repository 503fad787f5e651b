"""Values that travel between the model, the road, the views and the store. No behaviour."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tools.images.picture import Picture

Decision = Literal["once", "session", "always", "deny"]
CallStatus = Literal["ok", "error", "denied", "timeout", "interrupted"]
TurnStatus = Literal["done", "stopped", "interrupted", "failed"]
ChildStatus = Literal["completed", "failed", "error", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model wants done. The arguments are parsed; the road makes them fit the schema."""

    id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    """Why the call cannot run (unknown name, unreadable arguments); empty if it can."""
    mistake: str = ""
    """The same without what differs from try to try, if the model did something wrong."""
    by: str = ""
    """The id of the call whose script makes this one; empty for those of the model."""
    about: str = ""
    """What it is about, for a person; empty if the arguments say that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer to a call. ``text`` is what the model reads, whatever the status."""

    call: ToolCall
    """As the model wrote it."""
    text: str
    status: CallStatus = "ok"
    seconds: float = 0.0
    exit_code: int = 0
    """Of the command that the call ran, if it ran one."""
    args: Mapping[str, Any] | None = None
    """What the tool got, after coercion; None if it never came so far."""
    mistake: str = ""
    """What the model did wrong, without the place; empty if the call could run."""
    handle: str = ""
    """Where the whole answer is kept, if ``text`` is a part of it."""
    total_chars: int = 0
    """Of the whole answer; 0 if ``text`` is all of it."""
    details: str = ""
    """More for the person, such as a traceback; the model is not told."""
    images: tuple[Picture, ...] = ()
    """What there is to see of it. They are not stored with the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question to a person about one exact call."""

    id: str
    call: ToolCall
    reason: str
    """Why it asks, for a person: "deletes 3 files"."""
    shown: str
    """Exactly what will happen if the answer is yes: the command, or the diff."""
    cwd: str
    grant: str
    """What "allow this session" would cover, in words."""
    digest: str
    """Fingerprint of call and folder; the road compares it again before it runs the call."""
    effects: tuple[str, ...] = ()
    """What it would do, one short line each: "deletes build/old.csv"."""
    purpose: str = ""
    """What the model says it wants it for; empty if it says nothing."""
    asker: str = ""
    """Who asks, if it is not the session's own agent: a child's name."""
    path: tuple[str, ...] = ()
    """The ids of the children that lead to who asks, the outermost first; empty for the session's
    own agent."""
    rule: str = ""
    """The rule that "always" would write; empty if that cannot be offered."""
    editable: str = ""
    """Name of the argument that a person may change before it runs; empty if there is none."""
    risk: str = ""
    """How bad a mistake could be: ``medium`` or ``high``."""
    place: str = ""
    """The machine or container where it would work; empty for this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A person's answer to an approval request."""

    decision: Decision
    note: str = ""
    """What the person tells the model with it."""
    edited: str | None = None
    """What the editable argument shall be instead; it is judged anew."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which cell asks, as far as that is known."""

    cell: str = ""
    """Its id."""
    number: int = 0
    """The number of its execution: ``In [3]``."""
    attended: bool = False
    """Can a person be asked there?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of the model to a person (the ``clarify`` tool)."""

    id: str
    text: str
    choices: tuple[str, ...] = ()
    secret: bool = False
    """Is the answer a password? It is shown nowhere, and is in no event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """An agent that works for another one; or a model that is asked together with others."""

    id: str
    number: int
    """Of the children of its call, from 1."""
    name: str
    """For a person; other children of the same call have other names."""
    goal: str
    """What it shall do, on one line, cut."""
    model: str = ""
    steps: int = 0
    """Model calls that it may make; 0 for one that makes a single one."""
    session_id: str = ""
    """The id under which its conversation is stored; empty if it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more model calls, and what they cost as far as that is known."""

    prompt_tokens: int = 0
    """All that was read, also what came from a cache."""
    completion_tokens: int = 0
    cached_tokens: int = 0
    model_calls: int = 0
    cost: float = 0.0
    """US dollars; of the calls whose price is known."""
    unpriced_calls: int = 0
    """How many calls cost something that is not known."""
    price_source: str = ""
    """Where the prices come from; empty if none was needed."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            model_calls=self.model_calls + other.model_calls,
            cost=self.cost + other.cost,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
            price_source=_both(self.price_source, other.price_source),
        )


def _both(one: str, other: str) -> str:
    if not one or not other or other in one.split("; "):
        return one or other
    return f"{one}; {other}"


def digest_of(call: ToolCall, cwd: str) -> str:
    """Fingerprint (sha256, hex) of a call in a folder; the order of arguments plays no part."""
    body = json.dumps([call.name, dict(call.args), cwd], sort_keys=True, default=str)
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
