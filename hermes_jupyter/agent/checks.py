"""The checks between a model's wish and a call: the name, the arguments, twins.

A call that does not pass carries its error, which goes back to the model as the call's result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.calls import ToolCall

MAX_ARGUMENT_CHARS = 10_000_000


def checked(raw_calls: Iterable[RawCall], names: Collection[str]) -> list[ToolCall]:
    """The calls of one step, each ready to run or with the error that says why not."""
    return _without_twins([_check(raw, names) for raw in raw_calls])


def _check(raw: RawCall, names: Collection[str]) -> ToolCall:
    name = resolve_name(raw.name, names)
    if name is None:
        return ToolCall(id=raw.id, name=raw.name, error=_unknown(raw.name, names))
    try:
        args = parse_arguments(raw.arguments)
    except ValueError as error:
        return ToolCall(id=raw.id, name=name, error=f"The arguments of {name} {error}")
    return ToolCall(id=raw.id, name=name, args=args)


def resolve_name(name: str, names: Collection[str]) -> str | None:
    """The tool that is meant: its exact name, or the only one that is spelled alike.

    Only case and separators are mended. A near miss in meaning (``create_file`` for
    ``read_file``) must not run another tool.
    """
    if name in names:
        return name
    alike = [known for known in names if _folded(known) == _folded(name)]
    return alike[0] if len(alike) == 1 else None


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _unknown(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"There is no tool {name[:100]!r}.{hint} The tools are: {', '.join(sorted(names))}."


def parse_arguments(text: str) -> dict[str, Any]:
    """The argument object that the model wrote.

    Raises
    ------
    ValueError
        Says what is wrong and where, to go on the words "The arguments of NAME".
    """
    if not text or not text.strip():
        return {}
    if len(text) > MAX_ARGUMENT_CHARS:
        raise ValueError(f"are too long: {len(text)} characters, at most {MAX_ARGUMENT_CHARS}")
    try:
        args = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        around = text[max(0, error.pos - 20) : error.pos + 20]
        raise ValueError(
            f"are not valid JSON: {error.msg} at character {error.pos}, near {around!r}. "
            "Nothing was run. Send the whole call again."
        ) from None
    except RecursionError:
        raise ValueError("are nested too deeply") from None
    if not isinstance(args, dict):
        raise ValueError(f"must be a JSON object, not {type(args).__name__}")
    return args


def _without_twins(calls: list[ToolCall]) -> list[ToolCall]:
    """The second of two equal calls of one step does not run again."""
    seen: dict[str, str] = {}
    kept = []
    for call in calls:
        key = f"{call.name} {json.dumps(dict(call.args), sort_keys=True, default=str)}"
        first = seen.setdefault(key, call.id)
        twin = first != call.id and not call.error
        error = f"Same as call {first} of this step, which ran once; read its result."
        kept.append(replace(call, error=error) if twin else call)
    return kept
