"""What an object is, asked of the interpreter alone: no code of the object or its class runs."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

NOTHING: Mapping[str, Any] = types.MappingProxyType({})


def bases(cls: type) -> tuple[type, ...]:
    """The class and its bases, as the interpreter searches them."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return found


def own_names(cls: type) -> Mapping[str, Any]:
    """What the body of a class defines."""
    found: Mapping[str, Any] = type.__dict__["__dict__"].__get__(cls)
    return found


def name_of(cls: type) -> str:
    """The name of a class, without its module."""
    return str(type.__dict__["__name__"].__get__(cls))[:200]


def module_of(cls: type) -> str:
    module = type.__dict__["__module__"].__get__(cls)
    return module if type(module) is str else ""


def full_name(cls: type) -> str:
    """The name of a class with its module, where that tells something."""
    module = module_of(cls)
    return name_of(cls) if module in ("builtins", "__main__", "") else f"{module}.{name_of(cls)}"


def is_instance(value: object, kind: Any) -> bool:
    """`isinstance`, without asking the object what it claims to be."""
    return isinstance(kind, type) and kind in bases(type(value))


def library(name: str) -> Any:
    """A module that the user has imported; None if not. Nothing is imported here."""
    return sys.modules.get(name)


def is_of(value: object, module: str, *names: str) -> bool:
    """Is it of one of these classes of a library, if that is imported?"""
    there = library(module)
    if there is None:
        return False
    found = vars(there) if type(there) is types.ModuleType else NOTHING
    return any(is_instance(value, found.get(name) or getattr(there, name, None)) for name in names)


def is_exactly(value: object, module: str, name: str) -> bool:
    """The same for one class, and not for those derived from it."""
    there = library(module)
    return type(there) is types.ModuleType and type(value) is vars(there).get(name)


def raw_attributes(value: object) -> dict[str, Any]:
    """The attributes that are stored in an object: of its dictionary and its slots."""
    found: dict[str, Any] = {}
    for cls in reversed(bases(type(value))):
        for name, entry in own_names(cls).items():
            if type(entry) is types.MemberDescriptorType and not name.startswith("__"):
                try:
                    found[name] = entry.__get__(value, type(value))
                except AttributeError:  # not set
                    continue
    return {**found, **dictionary_of(value)}


def dictionary_of(value: object) -> dict[str, Any]:
    """A copy of the ``__dict__`` of an object; empty if it has none of its own."""
    if isinstance_of_module(value):
        return dict(types.ModuleType.__getattribute__(value, "__dict__"))
    if is_instance(value, type):
        return dict(own_names(value))  # type: ignore[arg-type]
    for cls in bases(type(value)):
        entry = own_names(cls).get("__dict__")
        if entry is None:
            continue
        if type(entry) is not types.GetSetDescriptorType:
            return {}  # made by the class itself: to read it would run its code
        return dict(entry.__get__(value))
    return {}


def isinstance_of_module(value: object) -> bool:
    """Is it a module, also one that is loaded at its first use?"""
    return is_instance(value, types.ModuleType)


def overrides(value: object, base: type, *names: str) -> bool:
    """Does its class replace one of these methods of ``base``?"""
    for cls in bases(type(value)):
        if cls is base:
            return False
        if any(name in own_names(cls) for name in names):
            return True
    return True
