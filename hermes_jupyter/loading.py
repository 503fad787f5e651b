"""Put the magics into a shell, and take them out again."""

from __future__ import annotations

import sys
from typing import Any

from hermes_jupyter.kernel import ran_cells
from hermes_jupyter.magics import Hermes, questions_are_prompts

OURS = {"cell": "agent", "line": "hermes"}
ELSE = {"agent": "hermes_agent", "hermes": "hermes_control"}
"""Names under which our magics stand if another extension has the first ones."""


def load(shell: Any, *, override: bool = False) -> None:
    """Register ``%%agent`` and ``%hermes``; a second time changes nothing.

    A magic of the same name that another extension registered stays, and a line says under
    which name ours can be used and how to take the name over.
    """
    if installed(shell) is not None:
        return
    magics = Hermes(shell=shell)
    for kind, name in OURS.items():
        function = getattr(magics, name)
        there = shell.magics_manager.magics[kind].get(name)
        if there is not None and not override:
            other = ELSE[name]
            print(_clash(kind, name, other, there))
            name = other
        shell.magics_manager.register_function(function, magic_kind=kind, magic_name=name)
    shell.input_transformers_cleanup.append(questions_are_prompts)
    ran_cells.begin(shell)


def unload(shell: Any) -> None:
    """Take out what `load` has put in, and end what runs."""
    magics = installed(shell)
    if magics is None:
        return
    if api := sys.modules.get("hermes_jupyter.api"):  # only if a turn has imported it
        api.close()
    ran_cells.end()
    shell.configurables.remove(magics)
    for kind, table in shell.magics_manager.magics.items():
        for name, function in list(table.items()):
            if getattr(function, "__self__", None) is magics:
                del shell.magics_manager.magics[kind][name]
    # By name: %reload_ext has made a new function object of it.
    shell.input_transformers_cleanup[:] = [
        transform
        for transform in shell.input_transformers_cleanup
        if getattr(transform, "__name__", "") != questions_are_prompts.__name__
    ]


def installed(shell: Any) -> Any:
    """Our magics in this shell, or None."""
    for configurable in shell.configurables:
        kind = type(configurable)  # compared by name: %reload_ext has made a new class of ours
        if (kind.__module__, kind.__name__) == (Hermes.__module__, Hermes.__name__):
            return configurable
    return None


def _clash(kind: str, name: str, other: str, there: Any) -> str:
    mark = "%%" if kind == "cell" else "%"
    owner = getattr(there, "__module__", None) or "another extension"
    return (
        f"hermes_jupyter: {mark}{name} belongs to {owner} and stays; use {mark}{other}. "
        "To take the name over: %unload_ext hermes_jupyter, then %load_ext hermes_jupyter.override"
    )
