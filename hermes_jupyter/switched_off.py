"""Which tools the settings do not offer, and why."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_jupyter.hermes import Hermes
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from tools.toolsets import resolve_toolset


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """A tool that is there and is not offered."""

    tool: str
    reason: str
    remedy: str
    forbidden: bool
    """Did a person say never? Otherwise it is only not among what was chosen."""


def switched_off(
    hermes: Hermes, settings: Settings, session: Session | None = None
) -> list[SwitchedOff]:
    """The tools that the settings take away, by name.

    Raises
    ------
    ConfigurationError
        For a name that is neither a toolset nor a tool.
    """
    there = hermes.catalog(session)
    taken = {
        tool: name
        for name in settings.disabled
        for tool in resolve_toolset(name, there)
    }  # fmt: skip
    withheld = sorted(hermes.chosen(settings, session).withheld)
    return [_explained(tool, taken.get(tool), settings) for tool in withheld]


def _explained(tool: str, disabled: str | None, settings: Settings) -> SwitchedOff:
    if disabled is not None:
        named = "itself" if disabled == tool else f"toolset {disabled!r}"
        return SwitchedOff(
            tool,
            f"{named} is disabled",
            f"take {disabled!r} out of %config Hermes.disabled",
            forbidden=True,
        )
    if settings.toolsets:
        reason = f"not among the chosen toolsets: {', '.join(settings.toolsets)}"
    else:
        reason = "not among the default tools of this model"
    remedy = f"%%agent -t {tool} for a turn, %config Hermes.toolsets for all"
    return SwitchedOff(tool, reason, remedy, forbidden=False)
