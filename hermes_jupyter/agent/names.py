"""The tool that a model meant by a name, where only the spelling is wrong.

Another meaning is never mended: neither synonyms nor opposites nor the sister of a tool that has
been withheld. Where two tools could be meant, none is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from hermes_jupyter.agent.slips import is_near, is_slip, words_of

MAX_CHARS = 400
"""Of a name, with the markup that leaked into it."""
MAX_REPEATS = 8

# What models put around a name: control tokens, tags, the words of a chat template.
_TOKEN = re.compile(r"<[|｜][^<>]{0,60}[|｜]>|\[/?(?:TOOL_CALLS?|ARGS|CALL_ID)\]")
_TAG = re.compile(
    r"<(?:function|invoke|name|tool|tool_call|tool_name|function_call)"
    r"(?:=|\s+name\s*=|>)\s*[\"']?([^<>\"'\s]+)"
)
_ADDRESS = re.compile(r"\bto\s*=\s*([\w.:/-]+)")
_WRAPPING = " \t\r\n\"'`*[({@#<"
_AFTER_NAME = re.compile(r"[<>\"'`*{(\[\])}\r\n]")
_CHAT_WORDS = {
    "assistant", "analysis", "commentary", "final", "system", "user", "json", "code", "start",
    "function", "functions", "tool",
}  # fmt: skip

_NAMESPACE = re.compile(r"[.:/]+|__+|\s+")
_INDEX = re.compile(r"(?:[.:/]+(?:index|\d+))+\Z")
_GENERAL = {
    "api", "assistant", "builtin", "builtins", "call", "commentary", "default", "default_api",
    "function", "functions", "hermes", "mcp", "multi_tool_use", "name", "tool", "tool_name",
    "tools",
}  # fmt: skip
_BEFORE = frozenset(["call", "function", "functions", "mcp", "tool"])
_AFTER = frozenset(["tool", "function", "func"])


@dataclass(frozen=True, slots=True)
class _Tool:
    name: str
    words: tuple[str, ...]
    is_offered: bool

    @property
    def joined(self) -> str:
        return "".join(self.words)


def resolve_name(name: str, names: Collection[str], withheld: Collection[str] = ()) -> str | None:
    """The tool that is meant, or None if that is not certain.

    Parameters
    ----------
    names
        Tools that may be called.
    withheld
        Tools that exist and may not be called. What is close to one of them is not mended: the
        model meant that one.
    """
    if name in names:
        return name
    if name in withheld:
        return None
    tools = [_Tool(each, tuple(words_of(each)), True) for each in names]
    tools += [_Tool(each, tuple(words_of(each)), False) for each in withheld if each not in names]
    return _of_pieces(_pieces(name[:MAX_CHARS]), [tool for tool in tools if tool.words])


def _of_pieces(pieces: Iterable[str], tools: list[_Tool]) -> str | None:
    """The tool of the first piece that is more than a word of the template.

    If another piece is another tool, two calls were run together.
    """
    meant: str | None = None
    for piece in pieces:
        found = _resolved(piece, tools)
        if meant is None and found is None and piece.casefold() not in _CHAT_WORDS:
            return None
        if meant is not None and found not in (None, meant):
            return None
        meant = meant or found
    return meant


def _pieces(name: str) -> Iterator[str]:
    """The parts of a name between control tokens, without their markup."""
    address = _ADDRESS.search(name)
    if address:
        head = _TOKEN.split(name[: address.start()])
        yield from (bare for piece in head if (bare := piece.strip(_WRAPPING)))
        yield address[1]
        return
    for piece in _TOKEN.split(name):
        tag = _TAG.search(piece)
        bare = tag[1] if tag and not piece[: tag.start()].strip() else piece
        bare = _AFTER_NAME.split(bare.strip(_WRAPPING), maxsplit=1)[0].strip()
        if bare:
            yield bare


def _resolved(piece: str, tools: list[_Tool]) -> str | None:
    """The one tool that the piece spells, looked for from the surest reading to the least sure."""
    spellings = _spellings(_once(piece))
    for candidates in _readings(spellings, tools):
        if candidates:
            tool = candidates[0]
            return tool.name if len(candidates) == 1 and tool.is_offered else None
    return None


def _readings(spellings: list[list[str]], tools: list[_Tool]) -> Iterator[list[_Tool]]:
    for words in spellings:
        joined = "".join(words)
        yield [tool for tool in tools if tool.joined == joined]
        yield [tool for tool in tools if _is_repeated(joined, tool.joined)]
    if any(_is_near_withheld(words, tools) for words in spellings):
        return
    yield [tool for tool in tools if any(_is_own_name(words, tool, tools) for words in spellings)]
    for words in spellings:
        slips = [tool for tool in tools if is_slip(words, list(tool.words))]
        if slips:
            joined = "".join(words)
            yield slips + [
                tool for tool in tools if tool not in slips and is_near(joined, tool.joined, 2)
            ]


def _is_near_withheld(words: list[str], tools: list[_Tool]) -> bool:
    joined = "".join(words)
    return any(is_near(joined, tool.joined, 1) for tool in tools if not tool.is_offered)


def _once(piece: str) -> str:
    """What was said several times without a break, said once."""
    for times in range(2, MAX_REPEATS + 1):
        length, rest = divmod(len(piece), times)
        if rest == 0 and length > 1 and piece[:length] * times == piece:
            return piece[:length]
    return piece


def _is_repeated(joined: str, unit: str) -> bool:
    times, rest = divmod(len(joined), len(unit))
    return rest == 0 and 2 <= times <= MAX_REPEATS and unit * times == joined


def _spellings(piece: str) -> list[list[str]]:
    """The words of a name as they are, and without what is put around names in general."""
    piece = _INDEX.sub("", piece)
    parts = [part for part in _NAMESPACE.split(piece) if part]
    if [part.casefold() for part in parts[:2]] == ["google", "tool"]:
        parts = parts[2:]
    while parts and parts[0].casefold() in _GENERAL:
        parts.pop(0)
    found = []
    for words in (words_of(piece), words_of("_".join(parts))):
        shorter = [words, *_without_end(words)]
        found += [*shorter, *map(_without_start, shorter)]
    return [words for i, words in enumerate(found) if words and words not in found[:i]]


def _without_end(words: list[str]) -> Iterator[list[str]]:
    """Without the last word that says what it is, and so on: it may belong to the name."""
    while words and words[-1] in _AFTER:
        words = words[:-1]
        yield words
    if words and words[-1].endswith("tool"):  # run together: readfiletool
        yield [*words[:-1], words[-1].removesuffix("tool")]


def _without_start(words: list[str]) -> list[str]:
    start = 0
    while start < len(words) and words[start] in _BEFORE:
        start += 1
    return words[start:]


def _is_own_name(words: list[str], tool: _Tool, tools: list[_Tool]) -> bool:
    """Whether this is the name that an MCP server gives its tool, without the server's."""
    joined = "".join(words)
    parts = [words_of(part) for part in _NAMESPACE.split(tool.name) if words_of(part)]
    if parts[0] == ["mcp"]:
        parts = parts[1:]
    elif tool.words[0] == "mcp" and len(parts) == 1 and len(tool.words) > 2:  # mcp_server_tool
        parts = [list(tool.words[1:2]), list(tool.words[2:])]
    own = parts[-1] if parts else []
    if joined == "".join(word for part in parts for word in part):
        return True
    if len(parts) < 2 or joined != "".join(own):
        return False
    return len(own) > 1 or not any(
        own[0] in other.words for other in tools if other.name != tool.name
    )
