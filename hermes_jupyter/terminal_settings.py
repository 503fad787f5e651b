"""What a user says about terminals: ``terminal:`` of ``config.yaml``, under the environment.

All comes in upstream's names, as one flat mapping of texts: ``terminal: {docker_image: x}`` means
``TERMINAL_DOCKER_IMAGE``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.errors import ConfigurationError

PREFIXES = ("TERMINAL_", "MODAL_", "DAYTONA_", "DOCKER_", "CONTAINER_HOST", "APPTAINER_")
NAMES = {"backend": "TERMINAL_ENV", "env_type": "TERMINAL_ENV"}
"""Keys of the file that are called otherwise in the environment."""
NOT_OURS = frozenset({"env_passthrough"})
HERE = (".", "auto", "cwd")
"""Upstream's words for the folder of this machine, which says nothing about another place."""


def terminal_settings(told: Any, env: Mapping[str, str]) -> dict[str, str]:
    """The settings of all backends.

    Parameters
    ----------
    told
        What the file says under ``terminal``.

    Raises
    ------
    ConfigurationError
        If that is no mapping.
    """
    if told is not None and not isinstance(told, dict):
        raise ConfigurationError(f"terminal must hold keys and values, not {told!r}")
    found = {
        NAMES.get(str(key), f"TERMINAL_{key}".upper()): _text(value)
        for key, value in (told or {}).items()
        if value is not None and key not in NOT_OURS
    }
    found |= {name: value for name, value in env.items() if name.startswith(PREFIXES) and value}
    if found.get("TERMINAL_CWD") in HERE:
        del found["TERMINAL_CWD"]
    return found


def _text(value: Any) -> str:
    """Lists and mappings in JSON, as upstream has them in the environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, list | dict) else str(value)
