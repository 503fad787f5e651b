"""One call of a tool that a person makes, on the road and with the views of the agent's calls.

It is a turn without a model: it uses the session's shell, its consents and its tools, and leaves
the conversation alone.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from hermes_jupyter.agent.batches import Interrupted, run_batch
from hermes_jupyter.agent.loop import Outcome
from hermes_jupyter.agent.names import resolve_name
from hermes_jupyter.agent.relaxed_values import Unrepairable
from hermes_jupyter.agent.repair import repaired
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import Listener
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.session import Session
from hermes_jupyter.switched_off import switched_off
from hermes_jupyter.turn import Turn
from hermes_jupyter.turn_values import TurnOptions
from tools.availability import check
from tools.view import RegistryView

NEAR = 0.6
"""How like a name must be to be offered for it: as little as may help."""
SAME = 0.75
"""How like a name must be to be taken for it, misspelt: more than any word is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult(ToolResult):
    """The answer of a tool to a call by hand; shows itself as its text."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:  # the whole answer stands in the record above
        return f"<{self.call.name}: {self.status}, {len(self.text):,} characters>"

    def json(self) -> Any:
        """The answer as a Python value.

        Raises
        ------
        ValueError
            If it is no JSON.
        """
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A call that may be made, and the view that has the tool."""

    call: ToolCall
    tools: RegistryView

    @property
    def prompt(self) -> str:
        """The line that asks for it."""
        return f"%hermes call {self.call.name} {json.dumps(dict(self.call.args), default=str)}"


def wanted_call(
    hermes: Hermes, name: str, arguments: str, *, session: Session, options: TurnOptions
) -> WantedCall:
    """Find the tool and read the arguments, both as forgivingly as for a model.

    Runs the tool's own check.

    Raises
    ------
    TurnError
        If there is no such tool, it is switched off or cannot be used now, or the arguments
        cannot be read. One line.
    ConfigurationError
        For options or settings that are wrong.
    """
    hermes.look_for_tools()
    there = hermes.catalog(session)
    tool = resolve_name(name, there.names)
    entry = there.get_entry(tool) if tool else None
    if entry is None:
        raise TurnError(unknown(name, there))
    off = _switched_off(hermes, entry.name, session, options)
    available = check(entry.check_fn, entry.requires_env)
    if not available.ok:
        remedy = f"; {available.remedy}" if available.remedy else ""
        raise TurnError(f"{entry.name} cannot be used now: {available.reason}{remedy}")
    properties = entry.schema["parameters"].get("properties", {})
    try:
        args = repaired(arguments, properties.keys(), entry.name)
    except Unrepairable as error:
        raise TurnError(f"the arguments of {entry.name} cannot be read: {error}") from None
    call = ToolCall(id=f"call_{secrets.token_hex(4)}", name=entry.name, args=args)
    return WantedCall(call, there.restrict(deny=off))


def unknown(name: str, there: RegistryView) -> str:
    """That there is no such tool, and which are near."""
    near = get_close_matches(name, there.names, n=3, cutoff=NEAR)
    hint = f"; did you mean {' or '.join(near)}?" if near else "; %hermes tools lists them"
    return f"there is no tool {name[:100]!r}{hint}"


def is_tool(hermes: Hermes, name: str) -> bool:
    """Does the name mean a tool, or nearly?"""
    hermes.look_for_tools()
    names = hermes.catalog(hermes.session()).names
    return bool(resolve_name(name, names) or get_close_matches(name, names, n=1, cutoff=SAME))


def _switched_off(
    hermes: Hermes, tool: str, session: Session, options: TurnOptions
) -> frozenset[str]:
    """The tools that this one may not call. Refuse it if a person has switched it off.

    What is only not among the default tools may be called: to name it is to choose it.
    """
    settings = options.over(hermes.settings)
    off = {each.tool: each for each in switched_off(hermes, settings, session)}
    this = off.pop(tool, None)
    if this is not None and (this.forbidden or settings.toolsets):
        remedy = this.remedy if this.forbidden else f"%hermes call --tools {tool} {tool} ..."
        raise TurnError(f"{tool} is switched off: {this.reason}; {remedy}")
    return frozenset(off)


class CallTurn(Turn):
    """The turn of one call."""

    def __init__(
        self,
        wanted: WantedCall,
        hermes: Hermes,
        session: Session,
        options: TurnOptions,
        listeners: list[Listener],
        context: Mapping[str, Any],
    ) -> None:
        super().__init__(hermes, session, options, listeners, context)
        self._wanted = wanted
        self.result: ToolResult | None = None

    def _context(self, tools: RegistryView) -> dict[str, Any]:
        return {**super()._context(tools), "by_hand": True}

    def note_end(self, outcome: Outcome) -> None:
        """The conversation does not hear of it, and goes on with what it had to go on with."""

    async def work(self, prompt: str) -> Outcome:
        self.emit(self.started(prompt, model="", steps=0))
        road = self.road(self._wanted.tools)
        try:
            (self.result,) = await run_batch([self._wanted.call], road.run, self.emit)
        except Interrupted:
            raise asyncio.CancelledError from None
        return Outcome()


async def run_call(
    wanted: WantedCall,
    *,
    hermes: Hermes,
    session: Session,
    options: TurnOptions,
    listeners: list[Listener],
    context: Mapping[str, Any],
) -> CallResult:
    """Make the call; on the agent loop.

    Raises
    ------
    asyncio.CancelledError
        When it is interrupted.
    """
    with session.occupied():
        turn = CallTurn(wanted, hermes, session, options, listeners, context)
        await turn.run(wanted.prompt)
    assert turn.result is not None
    return CallResult(
        **{field.name: getattr(turn.result, field.name) for field in fields(ToolResult)}
    )
