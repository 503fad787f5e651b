"""A call as the models of functions see it, and what they may ask of the one who reads the code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tools.safety.python_code.values import Value, as_text
from tools.safety.scene import Scene


class Judge(Protocol):
    """Who reads the code and collects its effects."""

    scene: Scene
    in_kernel: bool
    """Ending this process ends the kernel of a person."""
    copies_of_environment: set[int]

    def tell(self, reason: str, *, forbidden: bool = False) -> None:
        """Add an effect."""

    def shell(self, command: str, scene: Scene | None = None) -> None:
        """Add the effects of a command line."""

    def python(self, source: str) -> Value:
        """Add the effects of code that runs here; its value, if it is an expression."""

    def script(self, source: str) -> None:
        """Add the effects of code for another Python."""

    def cell(self, text: str) -> None:
        """Add the effects of a notebook cell."""

    def call(
        self, function: Value, args: Sequence[Value], keywords: dict[str, Value] | None = None
    ) -> Value:
        """Add the effects of a call; what it returns."""

    def attribute(self, value: Value, name: str) -> Value:
        """What ``value.name`` is."""

    def lookup(self, name: str) -> Value:
        """What a variable holds."""


@dataclass(slots=True)
class Call:
    """A function by its full name, and what it is given; of a method, first the object."""

    name: str
    args: list[Value]
    keywords: dict[str, Value]
    judge: Judge
    spread: bool = field(default=False)
    """There are arguments that are not known (``*args``, ``**kwargs``)."""

    def argument(self, position: int, *names: str) -> Value | None:
        if 0 <= position < len(self.args):
            return self.args[position]
        return next((self.keywords[name] for name in names if name in self.keywords), None)

    def text(self, position: int, *names: str) -> str | None:
        """An argument as text, perhaps with holes; None if it is missing or no text."""
        value = self.argument(position, *names)
        return None if value is None else as_text(value)

    def after(self, count: int) -> Call:
        """The same without its first arguments."""
        return Call(self.name, self.args[count:], self.keywords, self.judge, self.spread)
