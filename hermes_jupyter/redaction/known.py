"""Secrets known by their value: what they look like plays no part."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from urllib.parse import quote

from tools.secrets.variables import secret_values

Replacement = Callable[[str, str], str]
"""What stands for a secret, given its kind and itself."""


NOTHING: Mapping[str, str] = MappingProxyType({})
LEAST_PASSWORD = 6


class KnownValues:
    """Values that must not be shown. One for the process, as its environment is one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the two below
        self._added: dict[str, str] = {}
        self._environment: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        """Of each spelling; replaced as a whole, so that readers need no lock."""
        self._pattern = re.compile("(?!)")

    def refresh(self, more: Mapping[str, str] = NOTHING) -> None:
        """Read the environment anew, and ``more`` as if it stood there.

        A cell may have set a variable since the last time.
        """
        found = secret_values({**os.environ, **more})
        values = {value: f"${name}" for name, value in found}
        with self._lock:
            if values != self._environment:
                self._environment = values
                self._spell()

    def add_password(self, value: str) -> None:
        """Mask what a person has entered. Short ones stand in everything, by chance."""
        with self._lock:
            if len(value) >= LEAST_PASSWORD:
                self._added[value] = "password"
                self._spell()

    def occur_in(self, text: str) -> bool:
        """Does any of them stand in the text? Cheap."""
        for value in self._kinds:  # noqa: SIM110  any() would take twice as long
            if value in text:
                return True
        return False

    def replaced(self, text: str, replacement: Replacement) -> str:
        """The text with each of them replaced."""
        if not self.occur_in(text):
            return text
        kinds, pattern = self._kinds, self._pattern
        return pattern.sub(lambda found: replacement(kinds[found[0]], found[0]), text)

    def _spell(self) -> None:
        """All spellings, long ones first: one secret may be a part of another."""
        spelled: dict[str, str] = {}
        for value, kind in {**self._environment, **self._added}.items():
            in_json = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]
            for spelling in (value, *in_json, quote(value, safe=""), *value.splitlines()):
                if len(spelling) >= min(8, len(value)):
                    spelled.setdefault(spelling, kind)
        longest_first = sorted(spelled, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._kinds = spelled


KNOWN = KnownValues()
"""Read at the start of each turn."""
