"""The module ``hermes_tools`` of a script: a function for each tool, and three helpers."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import Any

from tools.entry import ToolEntry

HELPERS = '''\
"""The tools of the agent. Each returns what the tool answers: a dict if that is JSON, else text."""


def json_parse(text):
    """JSON as a value; control characters in its texts are let pass."""
    import json

    return json.loads(text, strict=False)


def shell_quote(text):
    """The text as one word of a shell command."""
    import shlex

    return shlex.quote(str(text))


def retry(function, max_attempts=3, delay=2):
    """Call a function until it does not raise, waiting twice as long each time."""
    import time

    for attempt in range(max_attempts):
        try:
            return function()
        except Exception:
            if attempt + 1 == max_attempts:
                raise
            time.sleep(delay * 2**attempt)


def _given(required, optional):
    return {**required, **{name: value for name, value in optional.items() if value is not None}}
'''


def module_source(tools: Iterable[tuple[ToolEntry, Mapping[str, Any]]]) -> str:
    """The text of the module.

    Parameters
    ----------
    tools
        Each with the schema of its arguments.
    """
    return HELPERS + "".join(_function(entry, parameters) for entry, parameters in tools)


def _function(entry: ToolEntry, parameters: Mapping[str, Any]) -> str:
    properties = parameters.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    if not _is_name(entry.name):
        return ""
    about = repr(entry.description)
    if not all(map(_is_name, names)):
        return (
            f"\n\ndef {entry.name}(**args):\n    {about}\n    return _call({entry.name!r}, args)\n"
        )
    required = [name for name in names if name in (parameters.get("required") or ())]
    optional = [name for name in names if name not in required]
    signature = ", ".join([*required, *(f"{name}=None" for name in optional)])
    return (
        f"\n\ndef {entry.name}({signature}):\n    {about}\n"
        f"    return _call({entry.name!r}, _given({_dict(required)}, {_dict(optional)}))\n"
    )


def _dict(names: list[str]) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
