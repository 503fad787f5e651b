"""What running a shell program comes down to: commands, words, redirections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Unreadable(ValueError):
    """The text is no complete shell program, or too tangled to be judged."""


class Word(NamedTuple):
    """One word as the program gets it; what is not known is left as it was written."""

    text: str
    dynamic: bool = False
    """A part of it is known only when it runs."""
    computed: bool = False
    """It is not what was written: the outcome of a command, or of an uncertain branch."""
    glob: bool = False
    """It stands for the files that fit it."""
    quoted: bool = False

    def __str__(self) -> str:
        return self.text


class Redirection(NamedTuple):
    """``operator`` is without its descriptor; the target of ``<<`` and ``<<<`` is the text."""

    operator: str
    target: Word
    descriptor: str = ""


@dataclass(slots=True)
class Command:
    """A program with its arguments, and what it is joined to."""

    words: list[Word]
    assignments: dict[str, Word]
    redirections: tuple[Redirection, ...] = ()
    upstream: Command | None = None
    """What writes to its standard input."""
    ending: str = ""
    """The operator behind it."""

    @property
    def piped(self) -> bool:
        return self.upstream is not None

    def standard_input(self) -> Word | None:
        """The text it reads, if it comes from the command line itself."""
        for redirection in reversed(self.redirections):
            if redirection.operator.startswith("<<"):
                return redirection.target
            if redirection.operator.startswith("<") and redirection.descriptor in ("", "0"):
                return None
        output = self.upstream.output() if self.upstream else None
        return None if output is None else Word(output)

    def output(self) -> str | None:
        """What it prints, where that is certain: for ``echo``, ``printf`` and ``cat``."""
        name = self.words[0].text.rpartition("/")[2] if self.words else ""
        words = self.words[1:]
        if any(word.dynamic or word.glob for word in words):
            return None
        texts = [word.text for word in words]
        match name:
            case "echo":
                return _echoed(texts)
            case "printf":
                return _printed(texts)
            case "cat" | "tee" if not texts or texts == ["-"] or name == "tee":
                text = self.standard_input()
                return None if text is None or text.dynamic else text.text
        return None


def _echoed(texts: list[str]) -> str | None:
    if texts[:1] == ["-n"]:
        return " ".join(texts[1:])
    text = " ".join(texts)
    return None if texts[:1] and texts[0].startswith("-") and "\\" in text else f"{text}\n"


def _printed(texts: list[str]) -> str | None:
    if not texts or texts[0].startswith("-"):
        return None
    text, given = texts[0], texts[1:]
    for written, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\0", "\0")):
        text = text.replace(written, meant)
    if "%" in text.replace("%s", "").replace("%b", "") or "\\" in text:
        return None
    if "%" not in text:
        return text
    pieces = text.replace("%b", "%s").split("%s")
    width = len(pieces) - 1
    given += [""] * (-len(given) % width or (0 if given else width))
    rounds = [given[start : start + width] for start in range(0, len(given), width)]
    return "".join(
        pieces[0] + "".join(a + b for a, b in zip(each, pieces[1:], strict=True)) for each in rounds
    )
