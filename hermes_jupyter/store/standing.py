"""Rules that a person has given with "always": kept for all sessions, in a file they can edit."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.store.locks import locked
from tools.files.local_place import LOCAL

HEADER = '# What you have answered with "always". A line that you delete is asked about again.\n'


class StandingRules:
    """The rules in ``<home>/jupyter/approvals.yaml``. Any thread; other kernels may write too."""

    def __init__(self, home: Path) -> None:
        self.path = home / "jupyter" / "approvals.yaml"
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._rules: tuple[str, ...] = ()

    def rules(self) -> tuple[str, ...]:
        """The rules as they are now.

        Raises
        ------
        ConfigurationError
            If the file cannot be read; the message says where and why.
        """
        with self._lock:
            stamp = self._stamp()
            if stamp != self._seen:
                self._rules = self._read() if stamp else ()
                self._seen = stamp
            return self._rules

    def add(self, rule: str) -> None:
        """Write a rule down.

        Raises
        ------
        OSError
            If that cannot be.
        """
        import yaml  # only for those who have such rules

        with locked(self.path.with_suffix(".lock")):
            there = self._read() if self._stamp() else ()
            if rule in there:
                return
            rules = yaml.safe_dump({"allow": [*there, rule]}, allow_unicode=True, width=10_000)
            LOCAL.write_bytes_atomic(str(self.path), (HEADER + rules).encode(), 0o600)

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> tuple[str, ...]:
        import yaml

        try:
            told: Any = yaml.safe_load(self.path.read_text(encoding="utf-8")) or {}
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigurationError(f"cannot read {self.path}: {error}") from error
        rules = told.get("allow") if isinstance(told, dict) else None
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            raise ConfigurationError(f"{self.path} must hold a list of rules under 'allow'")
        return tuple(rules)
