"""The arguments of a program, taken apart: options, their values, operands."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from tools.safety.shell.values import Word

LETTERS = re.compile(r"[-+][A-Za-z0-9#?]{2,}")
NUMBER = re.compile(r"-\d+")


class Arguments:
    """Options and operands of one call."""

    __slots__ = ("_long_dash", "operands", "options", "words")

    def __init__(
        self,
        words: Sequence[Word],
        values: Collection[str],
        *,
        long_dash: bool,
        options_first: bool = False,
    ) -> None:
        self.words = words
        self.operands: list[Word] = []
        self.options: list[tuple[str, Word | None]] = []
        """Names with their values, letters taken apart."""
        self._long_dash = long_dash
        at = 0
        while at < len(words):
            word = words[at]
            text = word.text
            at += 1
            if text == "--":
                self.operands += words[at:]
                break
            if len(text) < 2 or text[0] not in "-+" or (text[0] == "+" and "--" not in values):
                self.operands.append(word)
                if options_first:
                    self.operands += words[at:]
                    break
            else:
                at += self._option(text, words[at : at + 1], values)

    def _option(self, text: str, following: Sequence[Word], values: Collection[str]) -> int:
        """Add one option; how many of the words behind it are its value."""
        name, equals, value = text.partition("=")
        if equals and (text.startswith("--") or self._long_dash):
            self.options.append((name, Word(value)))
            return 0
        if text in values or self._long_dash or text.startswith("--") or NUMBER.fullmatch(text):
            takes = text in values
            self.options.append((text, following[0] if takes and following else None))
            return int(takes)
        for place in range(1, len(text)):
            letter = text[0] + text[place]
            if letter in values:
                rest = text[place + 1 :]
                self.options.append((letter, Word(rest) if rest else next(iter(following), None)))
                return int(not rest)
            self.options.append((letter, None))
        return 0

    def value(self, option: str) -> Word | None:
        """Of the first such option, a pattern."""
        return next((v for name, v in self.options if fnmatchcase(name, option)), None)

    def has(self, option: str) -> bool:
        """Is there an option that fits the pattern, or is short for it?"""
        if self.has_exactly(option) or "=" in option:
            return self.has_exactly(option)
        short = [n for n, _ in self.options if n.startswith("--") and len(n) > 4]
        return option.startswith("--") and any(option.startswith(each) for each in short)

    def has_exactly(self, option: str) -> bool:
        """Is there an option, or an operand, that fits the pattern?"""
        if option[:1] not in "-+":
            return any(fnmatchcase(word.text, option) for word in self.operands)
        name, equals, wanted = option.partition("=")
        if equals:
            return any(
                each == name and value is not None and fnmatchcase(value.text, wanted)
                for each, value in self.options
            )
        if "*" in option or "[" in option:
            return any(fnmatchcase(each, option) for each, _ in self.options)
        return any(each == option for each, _ in self.options)

    def targets(self, chosen: str, options: Sequence[str], skipped: int) -> list[Word]:
        """The words that an entry of a model speaks of."""
        operands = self.operands[skipped:]
        match chosen:
            case "last":
                return operands[-1:]
            case "first":
                return operands[:1]
            case "rest":
                return operands[1:]
            case "init":
                return operands[:-1]
            case "none":
                return []
            case "value":
                return [value for option in options if (value := self.value(option))]
        if chosen.endswith("="):
            return [
                word._replace(text=word.text[len(chosen) :])
                for word in operands
                if word.text.startswith(chosen)
            ]
        return operands
