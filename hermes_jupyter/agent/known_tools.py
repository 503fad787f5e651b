"""What tools known by name do and touch, for those that do not say it themselves.

Data, and the few functions that read paths out of arguments. A name that is not here is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.registry import Effects

NEVER_PARALLEL = frozenset({"clarify"})
"""They talk to the person, who does one thing at a time. Not even a registration changes that."""

PATCH_HEADER = re.compile(
    r"^[ \t>+-]*\*{3}[ \t]*(?:(?:update|add|delete|move|rename|create)[ \t]+file|move[ \t]+to)"
    r"[ \t]*:?(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Read more forgivingly than the tool does: a path too many costs time, one too few the order."""
IMAGE_ARGUMENTS = ("image", "images", "image_url", "image_path", "path")
OF_THE_WEB = ("http://", "https://", "data:")

Resources = Callable[[Mapping[str, Any]], Iterable[str] | None]
"""The paths that a call touches; none if it touches no files, None if that cannot be told."""


@dataclass(frozen=True, slots=True)
class KnownTool:
    """What a tool of a name does."""

    effects: Effects
    resources: Resources


def _nothing(args: Mapping[str, Any]) -> Sequence[str]:
    return ()


def _path(args: Mapping[str, Any]) -> Sequence[str] | None:
    path = args.get("path")
    return (path,) if isinstance(path, str) else None


def _folder(args: Mapping[str, Any]) -> Sequence[str] | None:
    """Of a search: without a path, all of the working folder."""
    return _path(args) if args.get("path") else (".",)


def _patched(args: Mapping[str, Any]) -> Sequence[str] | None:
    """Of a patch: the one path, and those in the headers of a V4A text."""
    text, path = args.get("patch"), args.get("path")
    headers = PATCH_HEADER.findall(text) if isinstance(text, str) else []
    named = [name.strip() for header in headers for name in {header, *header.split("->")}]
    if isinstance(path, str) and path:
        named.append(path)
    return named if headers or args.get("mode") != "patch" else None


def _images(args: Mapping[str, Any]) -> Sequence[str] | None:
    given = [args[name] for name in IMAGE_ARGUMENTS if name in args]
    each = [one for some in given for one in (some if isinstance(some, list) else [some])]
    paths = [one for one in each if isinstance(one, str) and not one.startswith(OF_THE_WEB)]
    return [path.removeprefix("file://") for path in paths if path]


_LOOKS_ELSEWHERE = KnownTool("read", _nothing)

KNOWN_TOOLS: Mapping[str, KnownTool] = {
    "ha_get_state": _LOOKS_ELSEWHERE,
    "ha_list_entities": _LOOKS_ELSEWHERE,
    "ha_list_services": _LOOKS_ELSEWHERE,
    "session_search": _LOOKS_ELSEWHERE,
    "skill_view": _LOOKS_ELSEWHERE,
    "skills_list": _LOOKS_ELSEWHERE,
    "web_extract": _LOOKS_ELSEWHERE,
    "web_search": _LOOKS_ELSEWHERE,
    "vision_analyze": KnownTool("read", _images),
    "search_files": KnownTool("read", _folder),
    "read_file": KnownTool("read", _path),
    "write_file": KnownTool("write", _path),
    "patch": KnownTool("write", _patched),
}


def annotated_effects(annotations: Mapping[str, Any]) -> Effects:
    """The effects that the annotations of an MCP tool claim.

    Where they are silent, MCP assumes a tool that changes and destroys. Whatever it changes is
    out of our sight, so that only a reader is more than unknown.
    """
    reads = annotations.get("readOnlyHint") is True
    return "read" if reads and annotations.get("destructiveHint") is not True else "unknown"
