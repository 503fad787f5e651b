"""The checks between a model's wish and a call: the name, the arguments, twins.

A call that does not pass carries its error, which goes back to the model as the call's result.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.names import resolve_name
from hermes_jupyter.agent.relaxed_values import Unrepairable
from hermes_jupyter.agent.repair import repaired
from hermes_jupyter.agent.tool_search.bridge import TOOL_SEARCH
from hermes_jupyter.calls import ToolCall
from tools.catalog import Catalog

MAX_NAME_CHARS = 100
MAX_LISTED = 100


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
    calls = [check(raw, names, withheld=withheld, parameters=known) for raw in raw_calls]
    return without_twins(calls)


def check(
    raw: RawCall,
    names: Collection[str],
    *,
    withheld: Collection[str],
    parameters: Mapping[str, Collection[str]],
    shown: Collection[str] | None = None,
) -> ToolCall:
    """The same for one call. ``shown`` are the names that the model was told of, if not all."""
    name = resolve_name(raw.name, names, withheld)
    if name is None:
        mistake = f"There is no tool {raw.name[:MAX_NAME_CHARS]!r}"
        error = f"{mistake}.{_hint(raw.name, names, names if shown is None else shown)}"
        return ToolCall(id=raw.id, name=raw.name, error=error, mistake=mistake)
    if raw.is_cut:
        mistake = f"The call of {name} was cut off"
        told = (
            f"{mistake}: the answer was too long. Nothing was run. Send it again in smaller parts."
        )
        return ToolCall(id=raw.id, name=name, error=told, mistake=mistake)
    try:
        args = repaired(raw.arguments, parameters.get(name), name)
    except Unrepairable as error:
        mistake = f"The arguments of {name} are not valid JSON for a call"
        told = f"{mistake}: {error}. Nothing was run. Send the whole call again."
        return ToolCall(id=raw.id, name=name, error=told, mistake=mistake)
    return ToolCall(id=raw.id, name=name, args=args)


def _hint(name: str, names: Collection[str], shown: Collection[str]) -> str:
    near = get_close_matches(name[:MAX_NAME_CHARS], names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    listed = sorted(shown)[:MAX_LISTED]
    more = f" and {len(names) - len(listed)} more" if len(names) > len(listed) else ""
    more += f"; {TOOL_SEARCH} finds them" if more and TOOL_SEARCH in shown else ""
    return f"{hint} The tools are: {', '.join(listed)}{more}."


def without_twins(calls: list[ToolCall]) -> list[ToolCall]:
    """The second of two equal calls of one step does not run again."""
    seen: dict[str, str] = {}
    kept = []
    for call in calls:
        key = f"{call.name} {json.dumps(dict(call.args), sort_keys=True, default=str)}"
        first = call.id if call.error else seen.setdefault(key, call.id)
        error = f"Same as call {first} of this step, which ran once; read its result."
        kept.append(call if first == call.id else replace(call, error=error))
    return kept


def capped(calls: list[ToolCall], tools: Catalog) -> list[ToolCall]:
    """Of a tool that limits its calls in a step, only so many run."""
    counts: Counter[str] = Counter()
    kept = []
    for call in calls:
        entry = None if call.error else tools.get_entry(call.name)
        most = entry.max_per_step if entry else None
        counts[call.name] += most is not None
        told = f"Not run: at most {most} calls of {call.name} run in one step. Call it again."
        over = most is not None and counts[call.name] > most
        kept.append(replace(call, error=told) if over else call)
    return kept
