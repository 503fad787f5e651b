"""How much help a model needs: data, and which models get which.

A strong model gets all tools and full descriptions, and its word is taken. A small one gets few
tools, short descriptions, answers held to a schema where its server can do that, and its answers
are looked at a second time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is done for a model. The defaults are those of a strong one."""

    name: str
    toolset: str = ""
    """What it is offered if the user names nothing; empty: as everywhere."""
    compact: bool = False
    """Is the system prompt short, and are tools described in a line?"""
    constrained: bool = False
    """Are replies held to a schema, where the provider can do that?"""
    plan: bool = False
    """Does the first reply to a request begin with the steps that it needs? Measured: of half a
    billion parameters, a model does a tenth of all tasks more with it; of 1.5, none."""
    second_look: bool = False
    """Is an answer compared with what the tools said, before it counts?"""


FULL = Profile(name="full")
SMALL = Profile(name="small", toolset="small", compact=True, constrained=True, second_look=True)
TINY = replace(SMALL, name="tiny", plan=True)
PROFILES: Mapping[str, Profile] = {each.name: each for each in (FULL, SMALL, TINY)}
CHOICES = (AUTO, *PROFILES)

SMALL_BILLIONS = 4.0
"""Parameters up to which a model counts as small."""
TINY_BILLIONS = 1.0
_SIZE = re.compile(r"(?<![a-z0-9.])e?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
_SMALL_NAMES = re.compile(r"smollm|tinyllama|(?<![a-z])phi-?[23](\.5)?-?mini|phi-2")
"""Families whose names do not always say a size."""


def profile_for(model: str, chosen: str = AUTO) -> Profile:
    """The profile of a model: the chosen one, or what its name tells.

    Names of weights say how many parameters there are (``qwen2.5-coder:1.5b``, ``gemma-3-270m``).
    A name that says nothing is that of a strong model.
    """
    if chosen in PROFILES:
        return PROFILES[chosen]
    name = model.rpartition("/")[2].lower()
    sizes = [float(size) / (1 if unit == "b" else 1_000) for size, unit in _SIZE.findall(name)]
    if sizes:
        size = max(sizes)
        return TINY if size <= TINY_BILLIONS else SMALL if size <= SMALL_BILLIONS else FULL
    return SMALL if _SMALL_NAMES.search(name) else FULL
