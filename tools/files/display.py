"""Text that only shows a file, and must not be written into one."""

from __future__ import annotations

import re
from pathlib import PurePath

from tools.files.matching import without_line_numbers
from tools.files.problems import Problem

MASKED_SECRET = re.compile(r"«redacted:[^»]*»")
TABLE_SUFFIXES = frozenset({".csv", ".psv", ".tsv", ".tbl", ".dat"})
MIN_NUMBERED_LINES = 2


def refuse_display(content: str, existing: str, path: str) -> None:
    """Raise a `Problem` for numbered lines of `read_file`, or for a secret that was masked."""
    masked = MASKED_SECRET.search(content)
    if masked and masked[0] not in existing:
        raise Problem(
            f"The content contains a masked secret; {masked[0]} stands for a value that you cannot "
            "see. Change the other lines with patch, or ask for the value"
        )
    if _is_numbered(content, path) and without_line_numbers(existing) is None:
        raise Problem(
            "The content has the line numbers of read_file before its lines; write the text "
            "without them"
        )


def _is_numbered(content: str, path: str) -> bool:
    lines = content.rstrip("\n").split("\n")
    if len(lines) < MIN_NUMBERED_LINES or PurePath(path).suffix.lower() in TABLE_SUFFIXES:
        return False
    bars = {line.count("|") for line in lines}
    is_table = len(bars) == 1 and bars.pop() > 1
    return not is_table and without_line_numbers(content) is not None
