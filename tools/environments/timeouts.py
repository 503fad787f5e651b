"""How long a call may wait for a command: what the user has set, within sense."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

DEFAULT_TIMEOUT = 180
FOREGROUND_MAX_TIMEOUT = 600


def longest_wait(environment: Mapping[str, str] = os.environ) -> float:
    """The most that any call may ask for: ``TERMINAL_MAX_FOREGROUND_TIMEOUT``."""
    return _seconds(environment, "TERMINAL_MAX_FOREGROUND_TIMEOUT", FOREGROUND_MAX_TIMEOUT)


def usual_wait(environment: Mapping[str, str] = os.environ) -> float:
    """What a call gets that asks for nothing: ``TERMINAL_TIMEOUT``, within the most."""
    usual = _seconds(environment, "TERMINAL_TIMEOUT", DEFAULT_TIMEOUT)
    return min(usual, longest_wait(environment))


def _seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    try:
        seconds = float(environment.get(name) or default)
    except ValueError:
        return default
    return seconds if 0 < seconds < math.inf else default
