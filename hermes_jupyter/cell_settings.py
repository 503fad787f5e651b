"""What a cell's metadata and the settings of its page say about its turn.

A page shows metadata, ``{"hermes": {"model": "big", "max_steps": 9}}``, only to those who ask for
them, and a notebook may come from a stranger. So they only choose a model, leave tools out, lower
limits, and make approvals stricter than the settings of the page, which do the same to those of
the kernel. What is written on the ``%%agent`` line is seen, and counts instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions
from tools.toolsets import UnknownToolset, resolve_toolsets

STRICTER = ("ask", "plan", "deny")
"""Modes that may be chosen so, ever stricter."""
MAX_NAME_CHARS = 200
CHANGED = ("model", "toolsets", "approvals", "max_steps", "max_tokens", "max_cost")
"""Settings of a turn that a page's may change."""


def under(
    options: TurnOptions, cell: Mapping[str, Any], page: Mapping[str, Any], settings: Settings
) -> TurnOptions:
    """The options of a turn, with what its cell and its page say where they say nothing.

    The page's do not become options: a recording or an answer that is kept belongs to what the
    notebook says, whoever has it open.

    Raises
    ------
    ConfigurationError
        If one of them says what nobody can understand, or what it may not.
    """
    theirs = _Said(page, PAGE).under(TurnOptions(), settings).over(settings)
    changed = {
        name: getattr(theirs, name)
        for name in CHANGED
        if getattr(theirs, name) != getattr(settings, name)
    }
    chosen = _Said(cell, CELL).under(options, theirs)
    return replace(chosen, more={**chosen.more, **changed})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something is said."""

    name: str
    fix: str


CELL = _Place("metadata", "change or remove it in the cell's metadata, or write it on the line")
PAGE = _Place("settings of a page", "change it in Settings > Hermes, or write it on the line")


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said in one place."""

    said: Mapping[str, Any]
    place: _Place

    def under(self, options: TurnOptions, settings: Settings) -> TurnOptions:
        return replace(
            options,
            model=options.model or self._text("model"),
            tools=options.tools or (() if options.no_tools else self._tools(settings)),
            approve=options.approve or self._mode(settings),
            max_steps=options.max_steps or int(self._lower("max_steps", settings.max_steps)),
            max_tokens=options.max_tokens or int(self._lower("max_tokens", settings.max_tokens)),
            max_cost=options.max_cost or self._lower("max_cost", settings.max_cost),
        )

    def _text(self, name: str) -> str:
        value = self.said.get(name) or ""
        if not isinstance(value, str) or len(value) > MAX_NAME_CHARS or not _is_line(value):
            raise self._wrong(f"hermes.{name} is no name")
        return value.strip()

    def _tools(self, settings: Settings) -> tuple[str, ...]:
        value = self.said.get("tools") or ""
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self._wrong("hermes.tools must be names, separated by commas")
        wanted = tuple(name.strip() for name in names if name.strip())
        if not wanted:
            return ()
        try:
            more = resolve_toolsets(wanted) - resolve_toolsets(
                settings.toolsets or None, settings.disabled
            )
        except UnknownToolset as error:
            raise self._wrong(f"hermes.tools: {error}") from None
        if more:
            raise self._wrong(
                f"{self.place.name} only leave tools out, and {min(more)!r} is none that is "
                "offered without them"
            )
        return wanted

    def _mode(self, settings: Settings) -> str:
        mode = self._text("mode")
        if mode and mode not in STRICTER:
            raise self._wrong(
                f"{self.place.name} make approvals only stricter ({', '.join(STRICTER)}), "
                f"not {mode!r}"
            )
        return mode if mode and _strictness(mode) > _strictness(settings.approvals) else ""

    def _lower(self, name: str, limit: float) -> float:
        """A limit that is not above that of the settings; 0 for none."""
        value = self.said.get(name) or 0
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < float("inf"):
            raise self._wrong(f"hermes.{name} must be a number above 0, not {value!r}")
        return min(value, limit) if limit else value

    def _wrong(self, what: str) -> ConfigurationError:
        return ConfigurationError(f"{what}; {self.place.fix}")


def _is_line(text: str) -> bool:
    return not text or text.isprintable()


def _strictness(mode: str) -> int:
    return STRICTER.index(mode) + 1 if mode in STRICTER else 0
