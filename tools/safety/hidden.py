"""Text that is displayed differently from what runs."""

from __future__ import annotations

import re
import unicodedata

from tools.safety.effect import Effect

UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5"
    r"\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]|\r(?!\n)"
)
JOINED_EMOJI = re.compile(r"(?<=[\u2190-\u2bff\U0001f000-\U0001faff])[\ufe0f\u200d]")
NAMES = {
    "\u200b": "zero-width space", "\u200c": "zero-width non-joiner", "\u200d": "zero-width joiner",
    "\u202e": "right-to-left override", "\u2066": "left-to-right isolate",
    "\ufeff": "byte order mark",
    "\xa0": "no-break space", "\r": "carriage return", "\x1b": "escape", "\x08": "backspace",
}  # fmt: skip
LOOKALIKES = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL", "LISU")
ALIKE_SIGNS = frozenset("‐‑‒–—―−∕⁄⧸∖․‚；∶ǃ‘’“”＇＂｜＆＄｀＞＜")


def is_plain_text(text: str) -> bool:
    """Is it nothing but what every keyboard has?"""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def hidden_text(text: str) -> Effect | None:
    """What in the text a person would not see, if anything."""
    if is_plain_text(text):
        return None
    plain = text if text.isascii() else JOINED_EMOJI.sub("", text)
    if found := UNSEEN.search(plain):
        character = found.group()
        number = f"U+{ord(character):04X}"
        name = NAMES.get(character) or unicodedata.name(character, number).lower()
        return Effect(f"hides a part of its text: {name}", kind="hidden")
    return None


def looks_alike(text: str) -> bool:
    """Has a name, an option or a path letters that may pass for others?"""
    if text.isascii():
        return False
    if set(text) & ALIKE_SIGNS:
        return True
    foreign = [each for each in text if not each.isascii()]
    mixed = any(each.isascii() and each.isalpha() for each in text)
    return mixed and any(unicodedata.name(each, "").startswith(LOOKALIKES) for each in foreign)
