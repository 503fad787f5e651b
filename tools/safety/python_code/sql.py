"""Does SQL change what is stored? Judged by the first words of each statement."""

from __future__ import annotations

import re

_COMMENT_OR_TEXT = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|`[^`]*(?:`|\Z)", re.DOTALL
)
_CHANGES = re.compile(
    r"(?:drop|delete|truncate|update|insert|alter|grant|revoke|replace|merge|vacuum|attach|import|"
    r"export|install|load|call|exec(?:ute)?|do|rename|purge|optimize|reindex|cluster|kill|"
    r"shutdown|upsert|unload|create\s+or\s+replace|create\s+(?:user|role|extension|trigger|"
    r"function|procedure|event|server))\b",
    re.IGNORECASE,
)
_COPIES_OUT = re.compile(r"copy\b.*\b(?:to|from)\b|.*\binto\s+(?:out|dump)file\b", re.I | re.DOTALL)
_INNER = re.compile(r"\b(?:delete\s+from|insert\s+into|update\s+[\w.]+\s+set|merge\s+into)\b", re.I)
_CALLS = re.compile(
    r"\b(?:load_extension|writefile|edit|pg_terminate_backend|lo_export|xp_cmdshell)\s*\(", re.I
)
_BEGINS_LIKE_SQL = re.compile(
    r"\s*(?:with|select|explain|copy|pragma|(?:drop|delete|truncate|update|insert|alter|grant|"
    r"revoke|merge|create|replace|attach|vacuum|install|load|export|call|begin)\s)",
    re.IGNORECASE,
)


def looks_like_sql(text: str) -> bool:
    return _BEGINS_LIKE_SQL.match(text) is not None


def change_in(text: str) -> str:
    """The first statement that changes something, shortened; "" if there is none."""
    plain = _COMMENT_OR_TEXT.sub(" '' ", text)
    statements = (each.strip(" \t\r\n'(") for each in plain.split(";"))
    return next((" ".join(each.split())[:60] for each in statements if _changes(each)), "")


def _changes(statement: str) -> bool:
    return bool(
        _CHANGES.match(statement)
        or _COPIES_OUT.match(statement)
        or _INNER.search(statement)
        or _CALLS.search(statement)
    )
