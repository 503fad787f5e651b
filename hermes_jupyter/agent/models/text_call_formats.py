"""The ways in which models print a tool call as text, read with a cursor.

Each function reads from where the cursor stands. It raises `NeedMore` where the text so far does
not decide, and `NotACall` as soon as it does. What it decides, no further text changes.
"""

from __future__ import annotations

import json
import re

from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.models.native_calls import new_call_id
from hermes_jupyter.agent.models.text_call_json import json_calls, json_text
from hermes_jupyter.agent.models.text_cursor import Cursor, NeedMore, NotACall

_FENCE_LANGUAGES = ("", "json", "tool_call", "tool_code")
_AFTER_OBJECT = re.compile(r"[\s}]*")
_IDENTIFIER = re.compile(r"[\w.-]*")
_PARAMETER_END = re.compile(r"</parameter>\s*(?=<parameter=|</function>|</tool_call>)")


def bare_calls(cursor: Cursor) -> list[RawCall]:
    """JSON objects that are the whole answer."""
    calls = json_calls(cursor)
    if not cursor.at_end():
        raise NotACall
    return calls


def fenced_calls(cursor: Cursor) -> list[RawCall]:
    """A fenced block with JSON objects that is the whole answer."""
    cursor.expect("```")
    language, newline, _ = cursor.text[cursor.place :].partition("\n")
    language = language.strip().lower()
    if not newline:
        cursor.out_of_text(if_more=any(known.startswith(language) for known in _FENCE_LANGUAGES))
    if language not in _FENCE_LANGUAGES:
        raise NotACall
    cursor.up_to("\n")
    cursor.skip()
    calls = json_calls(cursor)
    cursor.expect("```")
    cursor.skip()
    if not cursor.at_end():
        raise NotACall
    return calls


def tagged_calls(cursor: Cursor) -> list[RawCall]:
    """``<tool_call>`` with JSON (Hermes, Qwen) or with ``<function=...>`` in it (Qwen Coder)."""
    cursor.expect("<tool_call>")
    cursor.skip()
    if cursor.sees("<function="):
        calls = function_calls(cursor)
    else:
        calls = json_calls(cursor, closing="</tool_call>")
        cursor.skip(_AFTER_OBJECT)
    # Models forget the closing tag, and servers may have taken it for the end of the answer.
    if not cursor.takes("</tool_call>") and not cursor.sees("<tool_call>") and not cursor.at_end():
        raise NotACall
    return calls


def function_calls(cursor: Cursor) -> list[RawCall]:
    """``<function=name>`` with parameters as tags, or with one JSON object."""
    cursor.expect("<function=")
    name = cursor.offered(cursor.up_to(">").strip())
    cursor.skip()
    arguments = json_text(cursor) if cursor.sees("{") else _tagged_parameters(cursor)
    cursor.skip()
    closed = cursor.takes("</function>") or cursor.sees("</tool_call>")
    if not closed and (arguments == "{}" or not cursor.at_end()):
        raise NotACall
    cursor.skip()
    return [RawCall(id=new_call_id(), name=name, arguments=arguments)]


def lone_function_calls(cursor: Cursor) -> list[RawCall]:
    """``<function=name>`` of a model that forgot the tag before, but perhaps not the one after."""
    calls = function_calls(cursor)
    cursor.takes("</tool_call>")
    return calls


def _tagged_parameters(cursor: Cursor) -> str:
    values: dict[str, str] = {}
    while cursor.takes("<parameter="):
        key = cursor.up_to(">").strip()
        end = _PARAMETER_END.search(cursor.text, cursor.place)
        if end is None and not cursor.final:
            raise NeedMore
        value = cursor.text[cursor.place : end.start() if end else None]
        values[key] = value.removeprefix("\n").removesuffix("\n")
        if end is None:  # cut inside the value: so is the JSON, lest half a command is run
            cursor.place = len(cursor.text)
            return json.dumps(values, ensure_ascii=False)[:-2]
        cursor.place = end.end()
    return json.dumps(values, ensure_ascii=False)


def llama_calls(cursor: Cursor) -> list[RawCall]:
    """``<|python_tag|>`` and JSON to the end of the answer."""
    cursor.expect("<|python_tag|>")
    cursor.skip()
    return bare_calls(cursor)


def mistral_calls(cursor: Cursor) -> list[RawCall]:
    """``[TOOL_CALLS]`` with a list of objects, or with ``name{...}`` or ``name[ARGS]{...}``."""
    cursor.expect("[TOOL_CALLS]")
    cursor.skip()
    if cursor.sees("[") or cursor.sees("{"):
        calls = json_calls(cursor)
    else:
        name = cursor.skip(_IDENTIFIER)
        cursor.skip()
        if not (name and (cursor.takes("[ARGS]") or cursor.sees("{"))):
            raise NotACall
        cursor.skip()
        arguments = json_text(cursor)
        calls = [RawCall(id=new_call_id(), name=cursor.offered(name), arguments=arguments)]
        cursor.skip()
    if not cursor.sees("[TOOL_CALLS]") and not cursor.at_end():
        raise NotACall
    return calls
