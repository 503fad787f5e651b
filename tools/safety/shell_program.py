"""The parts of a shell program: commands, words, redirections."""

from __future__ import annotations

from dataclasses import dataclass, field


class Unreadable(ValueError):
    """The text is no complete shell program, or too tangled to be judged."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word, its quotes removed."""

    text: str
    dynamic: bool = False
    """Part of it is known only when it runs."""
    quoted: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Redirection:
    """``operator`` is without its descriptor number; ``target`` of ``<<`` is the whole text."""

    operator: str
    target: Word


@dataclass(slots=True)
class SimpleCommand:
    """A program with its arguments, and how it is joined to the next one."""

    words: list[Word] = field(default_factory=list)
    assignments: dict[str, Word] = field(default_factory=dict)
    redirections: list[Redirection] = field(default_factory=list)
    ending: str = ""
    """The operator behind it."""
    piped: bool = False
    """Its standard input is the output of another command."""
    depth: int = 0
    """How many ``( )`` surround it."""

    @property
    def empty(self) -> bool:
        return not (self.words or self.assignments or self.redirections)


@dataclass(slots=True)
class Program:
    """Everything a text can run."""

    commands: list[SimpleCommand] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    """Texts of ``$(...)``, backticks and ``<(...)``."""
    variables: dict[str, str] = field(default_factory=dict)
