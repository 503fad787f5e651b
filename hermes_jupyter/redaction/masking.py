"""Replace the secrets of a text, by masks or by anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes_jupyter.redaction.known import KNOWN, Replacement
from hermes_jupyter.redaction.rules import HINTS, LONG_WORD, RULES

PIECE = 1 << 14
"""A longer text is looked at piece by piece: the interpreter's lock is free between them."""
_REACH, _HEADER_REACH = 300, 60
"""Further behind a hint, or the name of a header, no rule looks for its secret."""
_SPACE = re.compile(r"\s")

_PLAIN = re.compile(r"[\w.~+/=@:%-]+")


def is_suspicious(text: str) -> bool:
    """Whether a secret can be in the text at all. Cheap."""
    return KNOWN.occur_in(text) or _looks_so(text)


def redact(text: str) -> str:
    """The text with every secret masked as ``«redacted:PREFIX…»``."""
    return replaced(text, _mask)


def redact_command(text: str) -> str:
    """The same for what a person is asked to allow: nothing that a shell acts on is hidden."""
    return replaced(text, lambda kind, secret: _mask(kind, secret) if _is_inert(secret) else secret)


def replaced(text: str, replacement: Replacement) -> str:
    """The text with every secret replaced by what ``replacement(kind, secret)`` returns."""
    text = KNOWN.replaced(text, replacement)
    if len(text) <= 2 * PIECE:
        return _replaced_by_shape(text, replacement)
    if "PRIVATE KEY" in text:  # the only secret that may be longer than a piece
        text = RULES[0].replaced(text, replacement)
    return "".join(_replaced_by_shape(piece, replacement) for piece in _pieces(text))


def _replaced_by_shape(text: str, replacement: Replacement) -> str:
    if not _looks_so(text):
        return text
    for rule in RULES:
        lowered = text.lower()
        if any(trigger in lowered for trigger in rule.triggers):  # looking for words is cheap
            text = rule.replaced(text, replacement)
    return text


def _looks_so(text: str) -> bool:
    return _hints(text) or LONG_WORD.search(text) is not None


def _hints(text: str) -> bool:
    lowered = text.lower()
    for hint in HINTS:  # noqa: SIM110  any() would take twice as long
        if hint in lowered:
            return True
    return False


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces, between which no secret stands."""
    start, look = 0, PIECE
    while look < len(text) and (space := _SPACE.search(text, look)):
        end = space.end()
        if _is_border(text[max(start, end - _REACH) : end]):
            yield text[start:end]
            start, look = end, end + PIECE
        else:
            look = end + 1
    yield text[start:]


def _is_border(before: str) -> bool:
    """Whether no secret goes on behind this space: only those of headers do so behind a line."""
    if before[-1] == "\n":
        nearby = before[-_HEADER_REACH:].lower()
        return "authorization" not in nearby and "bearer" not in nearby
    return not _hints(before)


def _mask(kind: str, _secret: str) -> str:
    return f"«redacted:{kind}…»"


def _is_inert(secret: str) -> bool:
    """No quoting, no blanks, nothing that a shell expands or runs."""
    return _PLAIN.fullmatch(secret) is not None or secret.startswith("-----BEGIN ")
