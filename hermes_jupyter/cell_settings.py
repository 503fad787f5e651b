"""What the metadata of a cell say about its turn: ``{"hermes": {"model": "big", "max_steps": 9}}``.

A page shows metadata only to those who ask for them, and a notebook may come from a stranger. So
they only choose a model, leave tools out, lower limits, and make approvals stricter. What is
written on the ``%%agent`` line is seen, and counts instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions
from tools.toolsets import UnknownToolset, resolve_toolsets

STRICTER = ("ask", "plan", "deny")
"""Modes that metadata may choose, ever stricter."""
MAX_NAME_CHARS = 200
_FIX = "change or remove it in the cell's metadata, or write it on the %%agent line"


def under(options: TurnOptions, said: Mapping[str, Any], settings: Settings) -> TurnOptions:
    """The options of a turn, with what metadata say where they say nothing.

    Raises
    ------
    ConfigurationError
        If the metadata say what nobody can understand, or what they may not.
    """
    return replace(
        options,
        model=options.model or _text(said, "model"),
        tools=options.tools or (() if options.no_tools else _tools(said, settings)),
        approve=options.approve or _mode(said, settings),
        max_steps=options.max_steps or int(_lower(said, "max_steps", settings.max_steps)),
        max_tokens=options.max_tokens or int(_lower(said, "max_tokens", settings.max_tokens)),
        max_cost=options.max_cost or _lower(said, "max_cost", settings.max_cost),
    )


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name) or ""
    if not isinstance(value, str) or len(value) > MAX_NAME_CHARS or not _is_line(value):
        raise ConfigurationError(f"hermes.{name} is no name; {_FIX}")
    return value.strip()


def _is_line(text: str) -> bool:
    return not text or text.isprintable()


def _tools(said: Mapping[str, Any], settings: Settings) -> tuple[str, ...]:
    value = said.get("tools") or ""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(f"hermes.tools must be names, separated by commas; {_FIX}")
    wanted = tuple(name.strip() for name in names if name.strip())
    if not wanted:
        return ()
    try:
        more = resolve_toolsets(wanted) - resolve_toolsets(
            settings.toolsets or None, settings.disabled
        )
    except UnknownToolset as error:
        raise ConfigurationError(f"hermes.tools: {error}; {_FIX}") from None
    if more:
        raise ConfigurationError(
            f"metadata only leave tools out, and {min(more)!r} is none that this kernel offers; "
            f"{_FIX}"
        )
    return wanted


def _mode(said: Mapping[str, Any], settings: Settings) -> str:
    mode = _text(said, "mode")
    if mode and mode not in STRICTER:
        raise ConfigurationError(
            f"metadata make approvals only stricter ({', '.join(STRICTER)}), not {mode!r}; {_FIX}"
        )
    return mode if mode and _strictness(mode) > _strictness(settings.approvals) else ""


def _strictness(mode: str) -> int:
    return STRICTER.index(mode) + 1 if mode in STRICTER else 0


def _lower(said: Mapping[str, Any], name: str, limit: float) -> float:
    """A limit that is not above that of the settings; 0 for none."""
    value = said.get(name) or 0
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < float("inf"):
        raise ConfigurationError(f"hermes.{name} must be a number above 0, not {value!r}; {_FIX}")
    return min(value, limit) if limit else value
