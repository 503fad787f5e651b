"""Names of the user's notebook in a prompt: ``{name}`` becomes the value."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping
from typing import Any

BRACES = re.compile(r"(?<!\{)\{([^{}\n]{1,200})\}(?!\})")
MAX_VALUE_CHARS = 4_000
ALLOWED = (
    ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.keyword,
    ast.Constant, ast.Load, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
    ast.JoinedStr, ast.FormattedValue, ast.Tuple,
)  # fmt: skip


def expand_names(text: str, namespace: Mapping[str, Any]) -> str:
    """Replace ``{expression}`` by its value where it is one in the user's namespace.

    An expression is a name of the namespace with attributes, items, calls or arithmetic, and a
    format as in an f-string (``{x:.2f}``, ``{name!r}``). Everything else stays as it is: JSON,
    LaTeX, ``{{doubled}}`` braces, names that do not exist, expressions that raise. A value is
    cut at 4,000 characters.
    """
    return BRACES.sub(lambda match: _value(match, namespace), text)


def _value(match: re.Match[str], namespace: Mapping[str, Any]) -> str:
    source = match.group(0)
    try:
        tree = ast.parse(f"f{source!r}", mode="eval")
    except (SyntaxError, ValueError):
        return source
    if not _is_expression_of(tree, source, namespace):
        return source
    try:
        value = str(eval(compile(tree, "<prompt>", "eval"), dict(namespace)))
    except Exception:  # noqa: BLE001 - the user's own objects may raise anything: leave the text
        return source
    if len(value) > MAX_VALUE_CHARS:
        return f"{value[:MAX_VALUE_CHARS]}… [{len(value) - MAX_VALUE_CHARS} characters more]"
    return value


def _is_expression_of(tree: ast.AST, source: str, namespace: Mapping[str, Any]) -> bool:
    if any(not isinstance(node, ALLOWED) for node in ast.walk(tree)):
        return False
    fields = [node for node in ast.walk(tree) if isinstance(node, ast.FormattedValue)]
    if len(fields) != 1 or isinstance(fields[0].value, ast.Tuple | ast.Constant):
        return False
    if re.search(r":\s", source) and fields[0].format_spec:  # {a: 1} is data, not a format
        return False
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = all(name in namespace or hasattr(builtins, name) for name in names)
    return known and any(name in namespace for name in names)
