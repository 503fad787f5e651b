"""What can be done about a model call that failed: data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hermes_jupyter.errors import ModelErrorKind

Remedy = Literal["wait", "compact", "drop_images", "fall_back"]

REMEDIES: Mapping[ModelErrorKind, tuple[Remedy, ...]] = {
    "rate_limit": ("wait", "fall_back"),
    "connection": ("wait", "fall_back"),
    "timeout": ("wait", "fall_back"),
    "server": ("wait", "fall_back"),
    "broken": ("wait", "fall_back"),
    "context": ("compact", "fall_back"),
    "image": ("drop_images", "fall_back"),
    "auth": ("fall_back",),
    "billing": ("fall_back",),
    "not_found": ("fall_back",),
    "no_model": ("fall_back",),
    "policy": ("fall_back",),
    "malformed": ("fall_back",),
    "bad_request": (),
}
"""In the order in which they are tried; after the last the turn stops with one line."""
