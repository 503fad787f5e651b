"""What kernels took through the server, day by day, and whether they may take more.

Kept in a file, so that a new server does not begin with a new budget.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from hermes_jupyter.store.locks import locked

logger = logging.getLogger(__name__)

KEPT_DAYS = 62
Days = dict[str, dict[str, dict[str, dict[str, float]]]]
"""Day, kernel, model, numbers."""


class NoBudget(PermissionError):
    """So much was taken already. One line, with the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What one or more calls took."""

    calls: int = 0
    read: int = 0
    """Tokens."""
    written: int = 0
    cost: float = 0.0
    """US dollars; of the calls whose price is known."""
    unpriced_calls: int = 0

    @property
    def tokens(self) -> int:
        return self.read + self.written

    def __add__(self, other: Took) -> Took:
        mine, theirs = asdict(self), asdict(other)
        return Took(**{name: mine[name] + theirs[name] for name in mine})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be taken on a day; 0 for any amount."""

    tokens: int = 0
    cost: float = 0.0
    cost_of_all: float = 0.0

    @property
    def need_prices(self) -> bool:
        return bool(self.cost or self.cost_of_all)


class Ledger:
    """Of one server; several may write the same file. Safe to use from any thread."""

    def __init__(self, home: Path, limits: Limits, today: Callable[[], date] = date.today) -> None:
        self._path = home / "jupyter" / "server-usage.json"
        self._limits, self._today = limits, today
        self._lock = threading.Lock()  # guards the next two
        self._days = _read(self._path)
        self._under_way: list[tuple[str, Took]] = []

    def admit(self, kernel: str, guess: Took, *, has_price: bool) -> None:
        """Note a call that begins; `settle` it in any case.

        Raises
        ------
        NoBudget
            If the kernel, or all of them, have taken what they may.
        """
        limits = self._limits
        if limits.need_prices and not has_price:
            raise NoBudget(
                "the price of this model is not known, so a budget in dollars cannot be kept: set "
                "c.HermesServer.prices"
            )
        with self._lock:
            own = self._taken(kernel)
            everyone = self._taken(None)
            if limits.tokens and own.tokens >= limits.tokens:
                said = f"{own.tokens:,} of {limits.tokens:,} tokens"
                raise NoBudget(_used_up("this kernel's", said, "max_tokens_per_day"))
            if limits.cost and own.cost >= limits.cost:
                said = f"${own.cost:.2f} of ${limits.cost:.2f}"
                raise NoBudget(_used_up("this kernel's", said, "max_cost_per_day"))
            if limits.cost_of_all and everyone.cost >= limits.cost_of_all:
                said = f"${everyone.cost:.2f} of ${limits.cost_of_all:.2f}"
                raise NoBudget(_used_up("the server's", said, "max_cost_of_all_per_day"))
            self._under_way.append((kernel, guess))

    def settle(self, kernel: str, guess: Took, model: str, took: Took) -> None:
        """A call has ended, and took this. Writes the file, so not on the loop."""
        day = self._today().isoformat()
        with self._lock:
            self._under_way.remove((kernel, guess))
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with locked(self._path.with_suffix(".lock")):
                    # Kernels of the same user can write the file: it never makes less of it.
                    self._days = self._recent(_larger(self._days, _read(self._path)))
                    self._add(day, kernel, model, took)
                    _write(self._path, self._days)
            except OSError:  # the budget holds for this server all the same
                logger.warning("what was used cannot be kept in %s", self._path, exc_info=True)
                self._add(day, kernel, model, took)

    def told(self) -> list[Mapping[str, Any]]:
        """What was taken, newest day first."""
        with self._lock:
            return [
                {"day": day, "kernel": kernel, "model": model, **numbers}
                for day in sorted(self._days, reverse=True)
                for kernel, models in self._days[day].items()
                for model, numbers in models.items()
            ]

    def _taken(self, kernel: str | None) -> Took:
        """Today, by this kernel or by all; what is under way counts as what it may take."""
        today = self._days.get(self._today().isoformat(), {})
        found = [
            Took(**_known(numbers))
            for name, models in today.items()
            if kernel in (None, name)
            for numbers in models.values()
        ]
        found += [guess for name, guess in self._under_way if kernel in (None, name)]
        return sum(found, Took())

    def _add(self, day: str, kernel: str, model: str, took: Took) -> None:
        models = self._days.setdefault(day, {}).setdefault(kernel, {})
        models[model] = asdict(Took(**_known(models.get(model, {}))) + took)

    def _recent(self, days: Days) -> Days:
        first = (self._today() - timedelta(days=KEPT_DAYS)).isoformat()
        return {day: kernels for day, kernels in days.items() if day >= first}


def _larger(mine: Days, others: Days) -> Days:
    """Both, and of what is in both the larger numbers."""
    found: Days = {}
    for days in (mine, others):
        for day, kernels in days.items():
            for kernel, models in kernels.items():
                for model, numbers in models.items():
                    there = found.setdefault(day, {}).setdefault(kernel, {}).setdefault(model, {})
                    for name, number in _known(numbers).items():
                        there[name] = max(number, there.get(name, 0))
    return found


def _used_up(whose: str, said: str, setting: str) -> str:
    return (
        f"{whose} budget of today is used up, with what is under way: {said} "
        f"(c.HermesServer.{setting})"
    )


def _known(numbers: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: numbers.get(name) for name in Took.__slots__}
    return {name: number for name, number in found.items() if type(number) in (int, float)}


def _read(path: Path) -> Days:
    """What the file holds; nothing if it is not there or is broken, which is told."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(day): {str(k): {str(m): dict(n) for m, n in ms.items()} for k, ms in ks.items()}
            for day, ks in told.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError):
        logger.warning("what was used before cannot be read from %s", path, exc_info=True)
        return {}


def _write(path: Path, days: Days) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(days, file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
