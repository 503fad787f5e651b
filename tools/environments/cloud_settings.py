"""How the settings of the cloud backends are read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from tools.environments.host import HostError

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off"}
LONGEST_NAME = 40


def amount(settings: Mapping[str, str], name: str) -> float | None:
    """A positive number; None if it is not set, or 0.

    Raises
    ------
    HostError
        If it is anything else.
    """
    text = settings.get(name, "").strip()
    try:
        value = float(text or 0)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise HostError(f"{name}={text!r} is no number of the kind 1, 0.5 or 5120.")
    return value or None


def is_persistent(settings: Mapping[str, str]) -> bool:
    """Whether files outlive the session; they do unless the user says no.

    Raises
    ------
    HostError
        If the setting is neither yes nor no.
    """
    text = settings.get("TERMINAL_CONTAINER_PERSISTENT", "").strip().lower() or "true"
    if text not in YES | NO:
        raise HostError(f"TERMINAL_CONTAINER_PERSISTENT={text!r} must be true or false.")
    return text in YES


def safe_name(session: str) -> str:
    """A name that services accept, the same for the same session and for no other."""
    plain = re.sub(r"[^A-Za-z0-9-]+", "-", session).strip("-")
    if plain and plain == session and len(plain) <= LONGEST_NAME:
        return plain
    digest = hashlib.sha256(session.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{plain[: LONGEST_NAME - 13]}-{digest}".lstrip("-")
