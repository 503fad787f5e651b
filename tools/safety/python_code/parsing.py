"""The syntax tree of code, without the compiler's warnings about it."""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Callable
from typing import TypeVar

_MAY_WARN = re.compile(r"\\|\d\.?[A-Za-z_]")
REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError)
FEW = 32
Result = TypeVar("Result")


def parsed(source: str) -> ast.Module:
    return _quietly(ast.parse, source)


def is_parsable(source: str) -> bool:
    try:
        parsed(source)
    except REFUSALS:
        return False
    return True


def is_python(source: str) -> bool:
    """Can it surely be parsed? Known in half the time, for no tree is made."""
    lines = source.split("\n")
    different = list(dict.fromkeys(lines))
    try:
        if len(different) <= min(FEW, len(lines) // 2) and all(map(is_python, different)):
            return True  # for each of them is a statement of its own
        _quietly(_checked, source)
    except REFUSALS:
        return False
    return True


def _checked(source: str) -> symtable.SymbolTable:
    return symtable.symtable(source, "", "exec")


def _quietly(read: Callable[[str], Result], source: str) -> Result:
    if not _MAY_WARN.search(source):
        return read(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(source)
