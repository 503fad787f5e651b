"""Hermes for Jupyter: an agent that lives in the kernel.

``%load_ext hermes_jupyter``, then ``%%agent`` above what should be done. Loading imports only
the magics; everything else is imported at the first turn.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hermes_jupyter.logs import MaskingHandler
from hermes_jupyter.neighbours import require_own_tools, warning

if TYPE_CHECKING:
    from hermes_jupyter.api_agent import Agent

require_own_tools()

# A library leaves it to the program where its log goes; without this it would go to the cell.
for _name in ("hermes_jupyter", "tools"):
    logging.getLogger(_name).addHandler(MaskingHandler())

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "__version__",
    "acall",
    "arun",
    "call",
    "load_ipython_extension",
    "on",
    "run",
    "unload_ipython_extension",
]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext hermes_jupyter``"""
    from hermes_jupyter.loading import load

    if told := warning():
        print(told)
    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext hermes_jupyter``"""
    from hermes_jupyter.loading import unload

    unload(shell)


def __getattr__(name: str) -> Any:
    """`Agent` is imported when it is used first."""
    if name == "Agent":
        from hermes_jupyter.api_agent import Agent

        return Agent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def run(prompt: str, **options: Any) -> Any:
    """Run a turn and wait for it; see `hermes_jupyter.api.run`."""
    from hermes_jupyter import api

    return api.run(prompt, **options)


async def arun(prompt: str, **options: Any) -> Any:
    """``await`` a turn; see `hermes_jupyter.api.arun`."""
    from hermes_jupyter import api

    return await api.arun(prompt, **options)


def call(name: str, arguments: Any = None, /, **more: Any) -> Any:
    """Make one call of a tool and wait for it; see `hermes_jupyter.api.call`."""
    from hermes_jupyter import api

    return api.call(name, arguments, **more)


async def acall(name: str, arguments: Any = None, /, **more: Any) -> Any:
    """``await`` a call of a tool; see `hermes_jupyter.api.acall`."""
    from hermes_jupyter import api

    return await api.acall(name, arguments, **more)


def on(name: str, function: Any) -> Any:
    """Subscribe to a hook; see `hermes_jupyter.api.on` and docs/hooks.md."""
    from hermes_jupyter import api

    return api.on(name, function)
