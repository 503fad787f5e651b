"""The checks between a model's wish and a call: the name, the arguments, twins.

A call that does not pass carries its error, which goes back to the model as the call's result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.names import resolve_name
from hermes_jupyter.agent.relaxed_values import Unrepairable
from hermes_jupyter.agent.repair import repaired
from hermes_jupyter.calls import ToolCall

MAX_NAME_CHARS = 100
MAX_LISTED = 100
_TWIN = "Same as call"


def checked(
    raw_calls: Iterable[RawCall],
    names: Collection[str],
    *,
    withheld: Collection[str] = (),
    parameters: Mapping[str, Collection[str]] | None = None,
) -> list[ToolCall]:
    """The calls of one step, each ready to run or with the error that says why not.

    Parameters
    ----------
    withheld
        Tools that exist and may not be called: no name is mended towards, or away from, them.
    parameters
        Names of the parameters of each tool, as far as they are known.
    """
    known = parameters or {}
    return _without_twins([_check(raw, names, withheld, known) for raw in raw_calls])


def _check(
    raw: RawCall,
    names: Collection[str],
    withheld: Collection[str],
    parameters: Mapping[str, Collection[str]],
) -> ToolCall:
    name = resolve_name(raw.name, names, withheld)
    if name is None:
        return ToolCall(id=raw.id, name=raw.name, error=_unknown(raw.name, names))
    try:
        args = repaired(raw.arguments, parameters.get(name), name)
    except Unrepairable as error:
        return ToolCall(
            id=raw.id,
            name=name,
            error=f"The arguments of {name} are not valid JSON for a call: {error}. "
            "Nothing was run. Send the whole call again.",
        )
    return ToolCall(id=raw.id, name=name, args=args)


def _unknown(name: str, names: Collection[str]) -> str:
    shown = name[:MAX_NAME_CHARS]
    near = get_close_matches(shown, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    listed = ", ".join(sorted(names)[:MAX_LISTED])
    return f"There is no tool {shown!r}.{hint} The tools are: {listed}{more}."


def fingerprint(call: ToolCall) -> str:
    """What went wrong with a call, without the place; empty if it can run, or its twin can."""
    return "" if call.error.startswith(_TWIN) else re.split(r"[:?]", call.error, maxsplit=1)[0]


def _without_twins(calls: list[ToolCall]) -> list[ToolCall]:
    """The second of two equal calls of one step does not run again."""
    seen: dict[str, str] = {}
    kept = []
    for call in calls:
        key = f"{call.name} {json.dumps(dict(call.args), sort_keys=True, default=str)}"
        first = call.id if call.error else seen.setdefault(key, call.id)
        error = f"{_TWIN} {first} of this step, which ran once; read its result."
        kept.append(call if first == call.id else replace(call, error=error))
    return kept
