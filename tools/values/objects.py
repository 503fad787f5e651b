"""What is neither a table nor an array: functions, classes, modules, figures, models, objects."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Mapping
from typing import Any

from tools.values.frames import size_text
from tools.values.plain import entries_of, glance, items_of, named, size_of, told
from tools.values.types import (
    bases,
    dictionary_of,
    full_name,
    is_instance,
    is_of,
    library,
    name_of,
    own_names,
    raw_attributes,
)

SOURCE_CHARS = 4_000
TEXT_CHARS = 600
MOST_NAMES = 40
MOST_ITEMS = 20
MOST_PARTS = 10_000
"""Layers of a model that are counted."""

Details = dict[str, Any]


def describe_text(value: Any) -> Details:
    base = next(each for each in (str, bytes, bytearray) if is_instance(value, each))
    size = base.__len__(value)
    head = base.__getitem__(value, slice(0, TEXT_CHARS))
    details: Details = {"length": size}
    if base is str:
        details["lines"] = str.count(value, "\n") + 1 if size else 0
    if size <= 2 * TEXT_CHARS:
        return {**details, "value": _plain_text(base.__getitem__(value, slice(0, size)))}
    tail = base.__getitem__(value, slice(size - TEXT_CHARS // 3, size))
    return {**details, "head": _plain_text(head), "tail": _plain_text(tail)}


def _plain_text(text: str | bytes | bytearray) -> str:
    return text if type(text) is str else repr(bytes(text))  # type: ignore[arg-type]


def describe_container(value: Any) -> Details:
    size = size_of(value) or 0
    if is_instance(value, dict):
        entries = entries_of(value, MOST_ITEMS)
        shown: Any = {told(key, 80): named(key, each, 160, 1) for key, each in entries}
        kinds = [type(each) for _, each in entries]
    else:
        items = items_of(value, MOST_ITEMS)
        shown, kinds = [told(each, 160, 1) for each in items], [type(each) for each in items]
    more = size - len(shown)
    return {
        "length": size,
        "item_types": sorted({full_name(kind) for kind in kinds}),
        "items": shown,
        **({"more_items": more} if more > 0 else {}),
    }


def describe_function(value: Any) -> Details:
    """A function of Python; its text says what its signature would."""
    function = value.__func__ if type(value) is types.MethodType else value
    if type(function) is not types.FunctionType:
        return {"callable": told(function)}
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {
        "parameters": list(names),
        **_documentation(function.__doc__),
        **_source(function),
        "file": code.co_filename,
        "line": code.co_firstlineno,
    }


def describe_class(value: type) -> Details:
    body = own_names(value)
    named_ones = [name for name in body if not name.startswith("_")]
    return {
        "bases": [full_name(base) for base in bases(value)[1:] if base is not object],
        "attributes": named_ones[:MOST_NAMES],
        **_documentation(body.get("__doc__")),
        **_source(value),
    }


def describe_module(value: Any) -> Details:
    there = dictionary_of(value)
    public = [name for name in there if type(name) is str and not name.startswith("_")]
    facts = {"version": there.get("__version__"), "file": there.get("__file__")}
    return {
        **{name: fact for name, fact in facts.items() if type(fact) is str},
        **_documentation(there.get("__doc__")),
        "names": sorted(public)[:MOST_NAMES],
        **({"more_names": len(public) - MOST_NAMES} if len(public) > MOST_NAMES else {}),
    }


def describe_figure(value: Any) -> Details:
    """A figure of matplotlib, by what stands in it."""
    axes = value.axes
    return {
        "axes": [
            {
                "title": told(each.get_title(), 120),
                "x": told(each.get_xlabel(), 80),
                "y": told(each.get_ylabel(), 80),
                "lines": len(each.lines),
                "patches": len(each.patches),
                "collections": len(each.collections),
                "images": len(each.images),
            }
            for each in axes[:MOST_ITEMS]
        ],
        "size_inches": [float(size) for size in value.get_size_inches()],
    }


def is_figure(value: object) -> bool:
    return (
        is_of(value, "matplotlib.figure", "Figure")
        and type(value) is library("matplotlib.figure").Figure
    )


def describe_image(value: Any) -> Details:
    return {"size": list(value.size), "mode": value.mode}


def describe_network(value: Any) -> Details:
    """A model of torch: its parts and its parameters, counted in its raw dictionaries."""
    parameters, trainable, seen = 0, 0, 0
    left = [value]
    while left and seen < MOST_PARTS:
        part = left.pop()
        seen += 1
        inside = dictionary_of(part)
        for tensor in _values(inside.get("_parameters")):
            number = int(tensor.nelement()) if is_of(tensor, "torch", "Tensor") else 0
            parameters += number
            trainable += number if number and tensor.requires_grad else 0
        left += [each for each in _values(inside.get("_modules")) if each is not None]
    parts = dictionary_of(value).get("_modules")
    return {
        "parameters": parameters,
        "trainable": trainable,
        "parts": {str(name): glance(part) for name, part in entries_of(parts, MOST_NAMES)}
        if is_instance(parts, dict)
        else {},
        "training": bool(dictionary_of(value).get("training")),
    }


def _values(held: Any) -> list[Any]:
    return [each for _, each in entries_of(held, MOST_PARTS)] if is_instance(held, dict) else []


def describe_object(value: Any) -> Details:
    """An object of any class: what it stores. Nothing of it runs."""
    cls = type(value)
    stored = raw_attributes(value)
    public = {name: each for name, each in stored.items() if not str(name).startswith("_")}
    shown = dict(itertools.islice((public or stored).items(), MOST_NAMES))
    methods = _methods(cls)
    about = own_names(cls).get("__doc__")
    return {
        **_documentation(about),
        "attributes": {str(name): named(name, each, 160, 1) for name, each in shown.items()},
        **({"methods": methods[:MOST_NAMES]} if methods else {}),
        **({"properties": _properties(cls)[:MOST_NAMES]} if _properties(cls) else {}),
        "note": "read without running any of its code",
    }


def _methods(cls: type) -> list[str]:
    return _defined(cls, types.FunctionType, classmethod, staticmethod)


def _properties(cls: type) -> list[str]:
    return _defined(cls, property)


def _defined(cls: type, *kinds: type) -> list[str]:
    return sorted(
        {
            name
            for base in bases(cls)
            if base is not object
            for name, entry in own_names(base).items()
            if type(entry) in kinds and not name.startswith("_")
        }
    )


def _documentation(text: Any) -> Mapping[str, str]:
    if type(text) is not str or not text.strip():
        return {}
    return {"doc": text.strip()[:TEXT_CHARS]}


def _source(thing: Any) -> Mapping[str, str]:
    try:
        source = inspect.getsource(thing)
    except (OSError, TypeError, SyntaxError, IndexError):  # made by other code, or not in Python
        return {}
    if len(source) <= SOURCE_CHARS:
        return {"source": source}
    return {"source": f"{source[:SOURCE_CHARS]}\n… ({size_text(len(source))} in all)"}


def described_name(value: object) -> str:
    """The name of the type of a value."""
    return full_name(type(value)) if type(value) is not type else f"class {name_of(type(value))}"
