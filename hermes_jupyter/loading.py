"""Put the magics into a shell, and take them out again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from hermes_jupyter.kernel import completing, control, ran_cells
from hermes_jupyter.kernel.prompt_lines import questions_are_prompts
from hermes_jupyter.magics import Hermes

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
    control.begin(getattr(shell, "kernel", None), _answer_elsewhere)
    completing.begin(shell, _suggesting(shell, magics))


def unload(shell: Any) -> None:
    """Take out what `load` has put in, and end what runs."""
    magics = installed(shell)
    if magics is None:
        return
    if api := sys.modules.get("hermes_jupyter.api"):  # only if a turn has imported it
        api.close()
    control.end()
    ran_cells.end()
    completing.end(shell)
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


def _suggesting(shell: Any, magics: Any) -> Callable[[str], Any]:
    """What completes our magics, under the names that they have; imported when it is needed."""
    kinds = shell.magics_manager.magics
    cell, line = (
        name if getattr(kinds[kind].get(name), "__self__", None) is magics else ELSE[name]
        for kind, name in OURS.items()
    )

    known: list[Any] = []

    def suggest(text: str) -> Any:
        if f"%{cell}" not in text and f"%{line}" not in text:
            return None
        from hermes_jupyter.completion import Names
        from hermes_jupyter.completion import suggest as suggest_for
        from hermes_jupyter.known_names import KnownNames

        known[:] = known or [KnownNames(magics)]
        return suggest_for(text, known[0], Names(cell, line))

    return suggest


def installed(shell: Any) -> Any:
    """Our magics in this shell, or None."""
    for configurable in shell.configurables:
        kind = type(configurable)  # compared by name: %reload_ext has made a new class of ours
        if (kind.__module__, kind.__name__) == (Hermes.__module__, Hermes.__name__):
            return configurable
    return None


def _answer_elsewhere(content: control.Content) -> control.Content:
    """Answer a request on the control channel; imported at the first one."""
    from hermes_jupyter.control.answering import UNBEGUN, Answering
    from hermes_jupyter.control.watch import Watch

    api = sys.modules.get("hermes_jupyter.api")
    opened = getattr(api, "opened", lambda: None)()  # without it while it is being imported
    answering = opened.answering if opened else Answering(Watch(control.tell), lambda: UNBEGUN)
    return answering(content)


def _clash(kind: str, name: str, other: str, there: Any) -> str:
    mark = "%%" if kind == "cell" else "%"
    owner = getattr(there, "__module__", None) or "another extension"
    return (
        f"hermes_jupyter: {mark}{name} belongs to {owner} and stays; use {mark}{other}. "
        "To take the name over: %unload_ext hermes_jupyter, then %load_ext hermes_jupyter.override"
    )
