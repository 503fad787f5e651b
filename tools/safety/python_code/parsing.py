"""The syntax tree of code, without the compiler's warnings about it."""

from __future__ import annotations

import ast
import re
import warnings

_MAY_WARN = re.compile(r"\\|\d[A-Za-z_]")


def parsed(source: str) -> ast.Module:
    if not _MAY_WARN.search(source):
        return ast.parse(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def is_parsable(source: str) -> bool:
    try:
        parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
