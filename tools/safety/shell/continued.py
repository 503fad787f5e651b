"""Lines that a backslash continues in the middle of a word or a comment.

Parsers take such a line for something else than bash does: to bash a comment ends with its line,
whatever stands there, and the two halves of a word are one. So the text is put as bash reads it.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?P<comment>(?<![^\s;&|()])\#[^\n]*)"
    r"|(?P<passive>'[^']*'|\"(?:[^\"\\$`]|\\.)*\"|\\[^\n])"
    r"|(?P<text>\"(?:[^\"\\$`]|\\.|\$(?!\())*\")",
    re.DOTALL,
)
_IN_WORD = re.compile(r"(?<=[^\s\\])\\\n(?=\S)")
_ALONE = re.compile(r"(?:^|(?<=\n))[ \t]*\\\n")
_SUBSTITUTED_IN_TEXT = re.compile(r"\"[^\"']*(?:\$\(|`)")


def joined(text: str) -> tuple[str, bool]:
    """The text with such lines joined or cut, and whether that is sure."""
    masked = _TOKEN.sub(_masked, text)
    has_any = masked != text and "\ue000" in masked
    if not has_any and not _IN_WORD.search(masked) and not _ALONE.search(masked):
        return text, True
    pieces: list[str] = []
    at = 0
    for found in re.finditer(r"\ue000+|" + f"{_IN_WORD.pattern}|{_ALONE.pattern}", masked):
        pieces.append(text[at : found.start()])
        at = found.end()
    is_sure = "'" not in text or not _SUBSTITUTED_IN_TEXT.search(text)
    return "".join([*pieces, text[at:]]), is_sure


def _masked(found: re.Match[str]) -> str:
    """As long as before: a comment that seems to go on, and texts that are only passed on."""
    text = found.group()
    if found.lastgroup == "comment":
        return "\ue000" * len(text) if text.endswith("\\") else text.replace("'", "q")
    return "q" * len(text) if found.lastgroup == "passive" else text
