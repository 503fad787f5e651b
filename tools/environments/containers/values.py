"""Settings as they arrive, a flat mapping of texts, read as what they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

YES, NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
UNITS = {"": 1 << 20, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?", re.IGNORECASE)


class Values:
    """Typed access; each method gives ``default`` where the setting is missing or blank.

    Each raises ValueError that names the setting if the text cannot be read.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings

    def text(self, name: str, default: str = "") -> str:
        return str(self._settings.get(name, "")).strip() or default

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name).lower()
        if text in YES | NO:
            return text in YES
        if text:
            raise ValueError(f"{name} must be true or false, not {text!r}")
        return default

    def number(self, name: str, default: float) -> float:
        text = self.text(name)
        try:
            value = float(text or default)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise ValueError(f"{name} must be a number, 0 for no limit, not {text!r}")
        return value

    def size(self, name: str, default: str) -> int:
        """Bytes; a bare number means megabytes."""
        text = self.text(name, default)
        match = SIZE.fullmatch(text)
        if match is None:
            raise ValueError(f"{name} must be a size such as 512m or 2g, not {text!r}")
        return int(float(match[1]) * UNITS[match[2].lower()])

    def words(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A JSON list, or words that are divided by commas."""
        text = self.text(name)
        if not text:
            return default
        if text.startswith("["):
            return tuple(str(item) for item in self._json(name, text))
        return tuple(filter(None, (word.strip() for word in text.split(","))))

    def pairs(self, name: str) -> dict[str, str]:
        """A JSON object, or ``NAME=value`` divided by commas."""
        text = self.text(name)
        if text.startswith("{"):
            return {str(key): str(value) for key, value in self._json(name, text).items()}
        words = self.words(name)
        if wrong := [word for word in words if "=" not in word]:
            raise ValueError(f"{name} must hold NAME=value, not {wrong[0]!r}")
        return dict(word.split("=", 1) for word in words)

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        text = self.text(name, default).lower()
        if text not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {text!r}")
        return text

    @staticmethod
    def _json(name: str, text: str) -> Any:
        """A list if the text begins as one, else an object: JSON has no third with that start."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"{name} is no valid JSON: {error}") from None
