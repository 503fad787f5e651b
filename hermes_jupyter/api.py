"""Run a turn from Python: ``hermes_jupyter.run(...)`` and ``await hermes_jupyter.arun(...)``.

The magics use the same functions; nothing about turns is written twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hermes_jupyter.desktop import Desktop
from hermes_jupyter.one_call import CallResult
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions, TurnResult


class _Process:
    """Holds the one desktop of this process."""

    desktop: Desktop | None = None


def desktop(settings: Settings | None = None) -> Desktop:
    """The desktop of this kernel, made at first use; ``settings`` replace its own."""
    if _Process.desktop is None:
        _Process.desktop = Desktop(settings)
    elif settings is not None:
        _Process.desktop.hermes.settings = settings
    return _Process.desktop


def opened() -> Desktop | None:
    """The desktop of this kernel, if it was used already."""
    return _Process.desktop


def close() -> None:
    """End everything that `desktop` has started."""
    here, _Process.desktop = _Process.desktop, None
    if here is not None:
        here.close()


def on(name: str, function: Callable[[Any], Any]) -> Callable[[], None]:
    """Have ``function`` called at each ``name``, such as ``"post_tool_call"``.

    It gets one of the classes of `hermes_jupyter.hooks`, in a thread, or is awaited if it is a
    coroutine function. Call what this returns to take it out again.

    Raises
    ------
    ValueError
        If there is no such hook.
    """
    return desktop().hermes.hooks.on(name, function)


def run(prompt: str, *, session: str = "", **options: Any) -> TurnResult:
    """Run a turn and wait for it: in a cell, a script, a tool, with or without a running loop.

    Parameters
    ----------
    prompt
        What should be done.
    session
        Name of the conversation; the same name goes on with it.
    options
        Fields of `TurnOptions`: ``model tools no_tools no_context max_steps approve frontend``.

    Raises
    ------
    HermesError
        If the turn fails.
    TurnInterrupted
        If the person interrupts it.
    """
    here = desktop()
    return here.run(prompt, session=here.hermes.session(session), options=TurnOptions(**options))


async def arun(prompt: str, *, session: str = "", **options: Any) -> TurnResult:
    """The same to ``await``: the caller's loop goes on. Parameters as for `run`."""
    here = desktop()
    return await here.arun(
        prompt, session=here.hermes.session(session), options=TurnOptions(**options)
    )


def call(name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> CallResult:
    """Make one call of a tool, as ``%hermes call`` does, and wait for it.

    It goes the road of the agent's calls: arguments are coerced, and a person is asked before
    anything destructive. The conversation does not hear of it.

    Parameters
    ----------
    name
        Of the tool.
    arguments, more
        Its arguments, as one mapping or by keyword.

    Returns
    -------
    CallResult
        ``status`` says how it went, ``text`` what the tool answered, ``json()`` the same as a
        value.

    Raises
    ------
    HermesError
        If there is no such tool, or it is switched off.
    TurnInterrupted
        If the person interrupts it.
    """
    return desktop().call(name, _as_json(arguments, more))


async def acall(
    name: str, arguments: Mapping[str, Any] | None = None, /, **more: Any
) -> CallResult:
    """The same to ``await``: the caller's loop goes on. Parameters as for `call`."""
    return await desktop().acall(name, _as_json(arguments, more))


def _as_json(arguments: Mapping[str, Any] | None, more: Mapping[str, Any]) -> str:
    """Arguments as JSON text; what JSON does not know, such as a path, as its text."""
    return json.dumps({**(arguments or {}), **more}, ensure_ascii=False, default=str)
