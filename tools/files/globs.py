"""Shell patterns for paths: ``*``, ``?``, ``[...]``, ``{a,b}``, and ``**`` across folders."""

from __future__ import annotations

import functools
import re

SPECIAL = re.compile(r"[*?\[{]")
MAX_ALTERNATIVES = 100


def is_glob(pattern: str) -> bool:
    return SPECIAL.search(pattern) is not None


def split_alternatives(patterns: str) -> list[str]:
    """Several patterns in one text, at commas outside braces: ``*.py, *.md``."""
    parts = re.split(r",(?![^{]*\})", patterns)
    return [part.strip() for part in parts if part.strip()]


@functools.lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression for whole paths with ``/``.

    A pattern without a slash is about the name alone, in any folder, as in ``.gitignore``.
    """
    pattern = pattern.removeprefix("./")
    anywhere = "/" not in pattern
    bodies = [_translate(each) for each in expand_braces(pattern)]
    body = f"(?:{'|'.join(bodies)})" if len(bodies) > 1 else bodies[0]
    return re.compile(("(?:.*/)?" if anywhere else "") + body, re.DOTALL)


def matches(patterns: str, path: str) -> bool:
    """Whether the path fits one of the patterns."""
    return any(compiled(each).fullmatch(path) for each in split_alternatives(patterns))


def expand_braces(pattern: str) -> list[str]:
    """``a.{py,md}`` becomes ``a.py`` and ``a.md``; unbalanced braces stay as they are."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) <= MAX_ALTERNATIVES:
        each = waiting.pop(0)
        found = re.search(r"\{([^{}]*,[^{}]*)\}", each)
        if not found:
            done.append(each)
            continue
        head, tail = each[: found.start()], each[found.end() :]
        waiting += [head + middle + tail for middle in found[1].split(",")]
    return done or [pattern]


def _translate(pattern: str) -> str:
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", pattern, re.DOTALL)
    return "".join(map(_token, tokens))


def _token(token: str) -> str:
    simple = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in simple:
        return simple[token]
    if len(token) > 2 and token[0] == "[":
        inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        inner = "^" + inner[1:] if inner[0] == "!" else inner.replace("^", r"\^")
        return f"[{inner}]" if _is_class(inner) else re.escape(token)
    return re.escape(token)


def _is_class(inner: str) -> bool:
    try:
        re.compile(f"[{inner}]")
    except re.error:
        return False
    return True
