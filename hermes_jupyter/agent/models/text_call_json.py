"""Calls in JSON that a model prints: exact where it is JSON, and with care where it is not quite.

Argument text stays as the model wrote it; mending it is done elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.models.native_calls import new_call_id
from hermes_jupyter.agent.models.text_cursor import Cursor, NeedMore, NotACall

_KEYS = ("name", "function", "arguments", "parameters", "type", "id")
_LONGEST_KEY = 12  # with its quotes
_DECODER = json.JSONDecoder(strict=False)

_BRACKET_OR_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_SPACE = re.compile(r"\s*")
_BETWEEN_OBJECTS = re.compile(r"[\s,;]*")
_OPENING = re.compile(r"(\[\s*)?(\{\s*)?")
_BROKEN_CALL = re.compile(
    r"""\s*\{\s*["'](?:name|function)["']\s*:\s*["'](?P<name>[^"']+)["']\s*,
        \s*["'](?:arguments|parameters)["']\s*:\s*(?P<arguments>.*)""",
    re.DOTALL | re.VERBOSE,
)


def json_calls(cursor: Cursor, closing: str = "") -> list[RawCall]:
    """One or more JSON values that are calls, and the space after them.

    Where brackets or quotes do not close, ``closing`` ends the value, or the end of the answer.
    """
    calls: list[RawCall] = []
    while not calls or cursor.sees("{") or cursor.sees("["):
        _require_call_key(cursor)
        end = json_end(cursor.text, cursor.place)
        if end is None:
            return [*calls, _broken_call(cursor, closing)]
        calls += _calls_in(cursor.text[cursor.place : end], cursor)
        cursor.place = end
        cursor.skip(_BETWEEN_OBJECTS)
        if cursor.place == len(cursor.text):
            cursor.at_end()
            break
    return calls


def json_text(cursor: Cursor) -> str:
    """The JSON object that stands here, as it was written."""
    if not cursor.sees("{"):
        raise NotACall
    end = json_end(cursor.text, cursor.place)
    if end is None:
        cursor.out_of_text()
    start, cursor.place = cursor.place, end
    return cursor.text[start:end]


def json_end(text: str, start: int) -> int | None:
    """Where the brackets that open at ``start`` are all closed."""
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text, start):
        mark = match.group()
        depth += (mark in ("{", "[")) - (mark in ("}", "]"))
        if depth <= 0:
            return match.end()
    return None


def _require_call_key(cursor: Cursor) -> None:
    """Refuse what cannot become a call as early as its first key, so that it can be shown."""
    text = cursor.text
    opening = _OPENING.match(text, cursor.place)
    place = opening.end() if opening else cursor.place
    if place == len(text):
        cursor.out_of_text()
    key = text[place : place + _LONGEST_KEY]
    if "{" not in text[cursor.place : place] or key[0] not in "\"'":
        raise NotACall
    whole = [f"{key[0]}{known}{key[0]}" for known in _KEYS]
    if any(key.startswith(known) for known in whole):
        return
    cursor.out_of_text(if_more=any(known.startswith(key) for known in whole))


def _broken_call(cursor: Cursor, closing: str) -> RawCall:
    """A call whose JSON never closes: the argument text as far as it goes."""
    if not cursor.final:
        raise NeedMore
    found = cursor.text.find(closing, cursor.place) if closing else -1
    source = cursor.text[cursor.place : found if found >= 0 else None]
    match = _BROKEN_CALL.match(source)
    if match is None:
        raise NotACall
    arguments = match["arguments"].rstrip()
    cursor.place += len(source)
    return RawCall(
        id=new_call_id(),
        name=cursor.offered(match["name"]),
        arguments=arguments.removesuffix("}") if found >= 0 else arguments,
    )


def _calls_in(source: str, cursor: Cursor) -> Iterator[RawCall]:
    """The calls that a JSON object, or a list of objects, stands for."""
    if source.startswith("["):
        for element in _elements(source):
            yield from _calls_in(element, cursor)
        return
    members = _members(source)
    if members is None:
        yield _inexact_call(source, cursor)
        return
    inner = _members(members.get("function", "")) or {}
    members = {**members, **inner}
    if not members.keys() <= set(_KEYS):
        raise NotACall
    name = members["name"] if "name" in members else members.get("function", "")
    arguments = members.get("arguments") or members.get("parameters")
    if arguments is None or _is_schema(arguments):
        raise NotACall
    yield RawCall(
        id=new_call_id(), name=cursor.offered(_string(name)), arguments=_argument_text(arguments)
    )


def _inexact_call(source: str, cursor: Cursor) -> RawCall:
    """A call in something that looks like JSON and is not: only its name must be certain."""
    match = _BROKEN_CALL.match(source)
    if match is None:
        raise NotACall
    arguments = match["arguments"].rstrip().removesuffix("}").rstrip()
    return RawCall(id=new_call_id(), name=cursor.offered(match["name"]), arguments=arguments)


def _members(source: str) -> dict[str, str] | None:
    """Keys of a JSON object with their values as written; None if it is not one."""
    members: dict[str, str] = {}
    place = 1
    try:
        while source.startswith("{"):
            place = _skip(source, place)
            if source[place] == "}":
                return members
            key, place = _DECODER.raw_decode(source, place)
            place = _skip(source, place)
            if source[place] != ":":
                return None
            start = _skip(source, place + 1)
            _, place = _DECODER.raw_decode(source, start)
            members[key] = source[start:place]
            place = _skip(source, place)
            if source[place] not in ",}":
                return None
            place += source[place] == ","
    except (ValueError, IndexError, TypeError, RecursionError):
        return None
    return None


def _elements(source: str) -> list[str]:
    """The elements of a JSON list as written."""
    elements: list[str] = []
    place = _skip(source, 1)
    while source[place] == "{":
        end = json_end(source, place)
        if end is None or end >= len(source):
            raise NotACall
        elements.append(source[place:end])
        place = _skip(source, end)
        place = _skip(source, place + 1) if source[place] == "," else place
    if source[place] != "]" or not elements:
        raise NotACall
    return elements


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _string(source: str) -> str:
    try:
        value = json.loads(source)
    except ValueError:
        raise NotACall from None
    if not isinstance(value, str):
        raise NotACall
    return value


def _argument_text(source: str) -> str:
    """The arguments as written; those that are JSON inside a string are unpacked."""
    if source.startswith('"'):
        return str(json.loads(source, strict=False))
    return "" if source == "null" else source


def _is_schema(source: str) -> bool:
    """Whether this describes a tool's parameters instead of giving them."""
    described = _members(source) or {}
    return described.get("type") == '"object"' and "properties" in described
