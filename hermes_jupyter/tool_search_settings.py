"""What a user says about tools that are searched for, since all of them would take too much."""

from __future__ import annotations

from typing import Any

from hermes_jupyter.errors import ConfigurationError

LEAST_TOOL_LIMIT = 11
"""Eight tools and the three that search for the others."""
ALWAYS_SEARCH = 0.01
"""A share of the window that any set of tools exceeds."""


def check_tool_search(share: Any, limit: Any) -> None:
    """Raise a ConfigurationError for a share or a number that cannot be one."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 100:
        raise ConfigurationError(f"tool_search_share must be 0 to 100 percent, not {share!r}")
    if type(limit) is not int or not (limit == 0 or limit >= LEAST_TOOL_LIMIT):
        raise ConfigurationError(
            f"tool_limit must be 0 (no limit) or at least {LEAST_TOOL_LIMIT}, not {limit!r}"
        )


def tool_search_share(tools: Any) -> Any:
    """``tools: {tool_search: {enabled: auto, threshold_pct: 10}}``; None if it says nothing."""
    told = tools.get("tool_search") if isinstance(tools, dict) else None
    told = told if isinstance(told, dict) else {"enabled": told}
    match told.get("enabled"):
        case False | "off":
            return 0.0
        case True | "on":
            return ALWAYS_SEARCH
        case None | "auto":
            return told.get("threshold_pct")
        case other:
            raise ConfigurationError(
                f"tools.tool_search.enabled must be auto, on or off, not {other!r}"
            )
