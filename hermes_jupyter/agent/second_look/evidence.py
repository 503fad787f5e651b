"""What has been done in a turn, as the checks of an answer need to know it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.agent.wishes import Wishes
from hermes_jupyter.calls import ToolResult

CHANGING = frozenset({"write_file", "patch", "terminal", "execute_code", "process"})
"""Tools that can change something. Of a tool that is not known, nothing is concluded."""
LOOKING = frozenset({"read_file", "search_files", "read_result", "todo", "session_search"})
COUNTS = ("total_lines", "total_count")
"""Where tools of ours say how many there are."""
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The request, and the results so far."""

    request: str
    wishes: Wishes
    results: Sequence[ToolResult]

    @property
    def was_denied(self) -> bool:
        return any(each.status in ("denied", "interrupted") for each in self.results)

    @property
    def last_failed(self) -> bool:
        """Did the last call bring an error?"""
        return bool(self.results) and failed(self.results[-1])

    @property
    def changed(self) -> bool:
        """Did a tool run without an error that may have changed something?"""
        return any(
            each.call.name not in LOOKING and not failed(each) and each.status == "ok"
            for each in self.results
        )

    def touched(self, name: str) -> bool:
        """Does any call or result speak of this file?"""
        plain = name.removeprefix("./")
        return any(plain in written(each) for each in self.results)

    def asked_for(self, name: str) -> bool:
        """Does any call name this file?"""
        return any(name in text for each in self.results for text in _leaves(_args(each)))

    def numbers(self) -> frozenset[str]:
        """All numbers in the request, the calls and the results."""
        texts = [self.request, *map(written, self.results)]
        return frozenset(number for text in texts for number in numbers_in(text))


def failed(result: ToolResult) -> bool:
    return result.status != "ok" or result.exit_code != 0


def written(result: ToolResult) -> str:
    """A call and what it brought, as one text."""
    return "\n".join([*_leaves(_args(result)), *_leaves(_parsed(result.text))])


def output_of(result: ToolResult) -> str:
    """What a command printed; nothing if it was none."""
    return field_of(result, "output")


def field_of(result: ToolResult, name: str) -> str:
    """A field of a result; "" if it has none."""
    said = _parsed(result.text)
    return str(said.get(name) or "") if isinstance(said, dict) else ""


def numbers_in(text: str) -> list[str]:
    """Numbers, written alike: no zeros at the end of a fraction."""
    return [_plain(number) for number in NUMBER.findall(text)]


def counts_in(result: ToolResult) -> frozenset[str]:
    """Numbers by which a tool has counted: its own, or what a command printed."""
    if failed(result):
        return frozenset()
    said = _parsed(result.text)
    if not isinstance(said, dict):
        return frozenset(numbers_in(str(said)))
    counted = [str(said[name]) for name in COUNTS if name in said]
    return frozenset([*counted, *numbers_in(str(said.get("output") or ""))])


def _args(result: ToolResult) -> dict[str, Any]:
    return dict(result.args if result.args is not None else result.call.args)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _leaves(value: Any) -> Iterator[str]:
    """All that is said in a value of JSON, without the signs around it."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield str(value)


def _plain(number: str) -> str:
    return number.rstrip("0").rstrip(".") if "." in number else number
