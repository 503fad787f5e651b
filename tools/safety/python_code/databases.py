"""Models of Python functions that hand SQL to a database."""

from __future__ import annotations

import re

from tools.safety.python_code.call import Call
from tools.safety.python_code.sql import change_in, looks_like_sql
from tools.safety.python_code.values import (
    UNKNOWN,
    Items,
    Made,
    Value,
    as_text,
    has_hole,
    shown,
)

_OUT_OF_MEMORY = re.compile(r"\s*(?:attach|copy|export|install|load)\b", re.IGNORECASE)
_MEMORY_NAMES = ("", ":memory:", "sqlite://", "sqlite:///:memory:", "duckdb:///:memory:")


def connected(call: Call) -> Value:
    """``sqlite3.connect`` and others; a database in memory is only a variable."""
    text = call.text(0, "database", "url")
    has_none = not call.args and call.name.startswith("duckdb.")
    is_memory = has_none or text in _MEMORY_NAMES
    return Made("database in memory" if is_memory else "database")


def executes(call: Call) -> Value:
    """``connection.execute(sql)``: text that cannot be seen may do anything."""
    return _judged(call, 1, must_be_seen=True)


def executes_here(call: Call) -> Value:
    """``duckdb.sql(sql)`` of a module; its tables are in memory."""
    return _judged(call, 0, must_be_seen=False)


def reads_by_sql(call: Call) -> Value:
    """``pd.read_sql(sql)``, ``x.query(text)``: made for reading, so only SQL that shows is told."""
    at = 0 if call.name.startswith("pandas.") else 1
    return _judged(call, at, must_be_seen=False)


def _judged(call: Call, position: int, *, must_be_seen: bool) -> Value:
    receiver = call.args[0] if call.args else UNKNOWN
    in_memory = isinstance(receiver, Made) and receiver.kind == "database in memory"
    in_memory = in_memory or call.name.startswith("duckdb.")
    given = call.argument(position, "sql", "query", "statement", "operation")
    text = None if given is None or isinstance(given, Items) else as_text(given)
    result = receiver if isinstance(receiver, Made) else UNKNOWN
    if given is None or (isinstance(given, Made) and not must_be_seen):
        return result
    if text is None or (has_hole(text) and not looks_like_sql(text)):
        if must_be_seen and not in_memory and not isinstance(given, Items | Made):
            call.judge.tell("runs SQL that cannot be seen")
        return result
    change = change_in(shown(text).replace("{", " ").replace("}", " "))
    may_matter = looks_like_sql(text) or must_be_seen
    if change and may_matter and (not in_memory or _OUT_OF_MEMORY.match(change)):
        call.judge.tell(f"changes databases: {change}")
    return result
