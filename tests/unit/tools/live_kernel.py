"""Stands for the kernel of a notebook, where a tool only looks at it or fills it."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

TRAPS = "repr str len iter getitem eq hash bool format dir sizeof contains"


class Variables:
    """Some variables."""

    def __init__(self, **variables: Any) -> None:
        self.there = variables

    def namespace(self) -> Mapping[str, Any]:
        return dict(self.there)

    def variables(self) -> dict[str, Any]:
        return dict(self.there)

    def assign(self, name: str, value: Any) -> None:
        self.there[name] = value

    def can_run(self, code: str) -> bool:
        return True


def hostile(ran: list[str]) -> Any:
    """An object that does something whatever is asked of it, and tells in ``ran``."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            ran.append(f"class {name}")
            return type.__getattribute__(cls, name)

        def __instancecheck__(cls, other: object) -> bool:
            ran.append("isinstance")
            return True

    class Hostile(metaclass=Meta):
        __slots__ = ("__dict__", "slot")

        def __init__(self) -> None:
            object.__setattr__(self, "slot", 1)
            object.__setattr__(self, "stored", 2)

        def __getattribute__(self, name: str) -> Any:
            ran.append(name)
            return object.__getattribute__(self, name)

        @property
        def __class__(self) -> Any:
            ran.append("class")
            raise RuntimeError

    def trap(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            ran.append(name)
            raise RuntimeError(name)

        return method

    for name in TRAPS.split():
        type.__setattr__(Hostile, f"__{name}__", trap(name))
    type.__setattr__(Hostile, "costly", property(trap("costly")))
    made = Hostile()
    ran.clear()
    return made


def lazy_module() -> types.ModuleType:
    """A module that fails as soon as it is used."""

    class Lazy(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    return Lazy("lazy")
