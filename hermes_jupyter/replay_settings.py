"""What a user says about recordings of turns, and about answers that stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_jupyter.errors import ConfigurationError

REPLAYS = ("", "record", "tools")
"""Not at all; all as it was recorded; the model as it was recorded, its tools run again."""
KEEPS = ("prompt", "context", "never")
_SWITCHES = {"": False, "0": False, "off": False, "false": False, "no": False,
             "1": True, "on": True, "true": True, "yes": True}  # fmt: skip


def check_replay(replay: str, keep_answers: str) -> None:
    """Raise a ConfigurationError for a word that means nothing."""
    for name, value, allowed in (
        ("replay", replay, REPLAYS),
        ("keep_answers", keep_answers, KEEPS),
    ):
        if value not in allowed:
            words = ", ".join(filter(None, allowed))
            raise ConfigurationError(f"{name} must be one of {words}, not {value!r}")


def replay_in(env: Mapping[str, str]) -> dict[str, Any]:
    """``HERMES_REPLAY`` (1, or ``tools``), ``HERMES_RECORD`` (1), ``HERMES_RECORDINGS`` (a path).

    Raises
    ------
    ConfigurationError
    """
    replay = env.get("HERMES_REPLAY", "").strip().lower()
    if replay not in REPLAYS:
        replay = "record" if _switch("HERMES_REPLAY", replay) else ""
    return {
        "replay": replay,
        "record": _switch("HERMES_RECORD", env.get("HERMES_RECORD", "").strip().lower()),
        "recordings": env.get("HERMES_RECORDINGS", ""),
    }


def _switch(name: str, said: str) -> bool:
    if said not in _SWITCHES:
        more = ", or tools" if name == "HERMES_REPLAY" else ""
        raise ConfigurationError(f"{name} must be 1 or 0{more}, not {said!r}")
    return _SWITCHES[said]
