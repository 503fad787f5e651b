"""The effect models: what each program does, read from ``effects/*.toml``.

A section is a program, or several with the same behaviour: ``["gzip xz"]``. Its keys, all optional:

``programs``
    Their names, where they are too many for a heading.
``values``
    Options that take a value, which is then no operand: ``"-o --output"``.
``dash = "long"``
    Options are words behind one dash (``-exec``), not letters to be taken apart (``-rf``).
``does``
    A table from a kind of effect (see `tools.safety.effect`) to entries that say when it happens.
    The kind may be followed by words for a person: ``"deletes: prunes {}"``; ``{}`` are targets.
``blocks``
    A table from words to entries: what nobody may approve.
``safe``
    Entries of forms that do nothing of note; they win over ``does``.
``other``
    ``"kind: words"`` for a sub-command that no entry speaks of.
``rehearses``
    Options of a trial run. ``--help`` and ``--version`` are known to all.
``recursive``
    Options that extend deleting, or changing permissions, to all that is in a folder.
``reads``
    ``"none"`` if it does not show what is in its operands, ``"rest"`` if the first is no file.
``wraps = 1``
    It runs its operands as a command, after so many words of its own.
``shell``, ``shell_words``
    Options whose value is shell text; or: all behind so many own words is shell text.
``code``, ``code_options``, ``first_is_code``, ``stdin``
    The language of the code in its options, of its first operand, of its standard input.
``elsewhere = true``
    What it runs, it runs on another host or in a container.

An entry is words and options: ``"branch -D -d --delete unless --list"``. Words are a sub-command,
matched in their places (``*`` and ``|`` work; ``...`` skips any number of words); of the options
one must be there, and of those behind ``unless`` none. ``@last``, ``@first``, ``@rest`` (all but
the first), ``@init`` (all but the last), ``@value`` (of the option), ``@of=`` choose the targets.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any, NamedTuple, cast

from tools.safety.arguments import Arguments
from tools.safety.effect import Kind

SECTION = re.compile(r'^\[(?:"([^"\n]+)"|([\w.-]+))\]', re.MULTILINE)
PROGRAMS = re.compile(r'\nprograms = "+([^"]+)"')
FOLDER = "effects"


class Entry(NamedTuple):
    """When something happens, and to what."""

    kind: Kind
    words: tuple[str, ...]
    options: tuple[str, ...]
    exceptions: tuple[str, ...]
    target: str
    text: str
    blocks: bool = False

    def fits(self, arguments: Arguments, skipped: int = 0) -> bool:
        operands = arguments.operands
        if self.words and not _in_place(self.words, [word.text for word in operands[:6]]):
            return False
        if self.options and not any(map(arguments.has, self.options)):
            return False
        return not any(map(arguments.has_exactly, self.exceptions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What one program does."""

    values: frozenset[str] = frozenset()
    long_dash: bool = False
    entries: tuple[Entry, ...] = ()
    by_word: Mapping[str, tuple[Entry, ...]]
    safe: tuple[Entry, ...] = ()
    other: Entry | None = None
    rehearses: tuple[str, ...] = ()
    recursive: tuple[str, ...] = ()
    reads: str = "all"
    wraps: int | None = None
    shell: tuple[str, ...] = ()
    shell_words: int | None = None
    code: str = ""
    code_options: tuple[str, ...] = ()
    first_is_code: bool = False
    stdin: str = ""
    elsewhere: bool = False

    @property
    def options_first(self) -> bool:
        """Behind the first operand, options are those of the program inside."""
        return self.wraps is not None or self.shell_words is not None

    @property
    def has_commands(self) -> bool:
        return bool(self.by_word or self.other)

    def entries_for(self, arguments: Arguments) -> list[Entry]:
        """What it does, called like this."""
        if self.rehearses and any(map(arguments.has_exactly, self.rehearses)):
            return []
        if any(entry.fits(arguments) for entry in self.safe):
            return []
        first = arguments.operands[0].text if arguments.operands else ""
        near = self.by_word.get(first, ()) if self.by_word else ()
        found = [entry for entry in (*near, *self.entries) if entry.fits(arguments)]
        if not found and self.other is not None and first:
            return [self.other]
        return found


def _in_place(words: tuple[str, ...], given: list[str]) -> bool:
    if words[0] == "...":
        return len(words) > 1 and any(_in_place(words[1:], given[at:]) for at in range(len(given)))
    if len(given) < len(words):
        return False
    return all(_matches(text, word) for word, text in zip(words, given, strict=False))


def _matches(text: str, word: str) -> bool:
    if word == text:
        return True
    return any(fnmatchcase(text, each) for each in word.split("|"))


def model_of(name: str) -> Model | None:
    """The model of a program, if there is one."""
    section = _sections().get(name)
    return None if section is None else _model(section)


@functools.cache
def _sections() -> Mapping[str, str]:
    """The text of each program's section; parsed when the program is first met."""
    sections: dict[str, str] = {}
    folder = resources.files(__package__) / FOLDER
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if not file.name.endswith(".toml"):
            continue
        text = file.read_text(encoding="utf-8")
        starts = list(SECTION.finditer(text))
        for match, following in zip(starts, [*starts[1:], None], strict=True):
            body = text[match.end() : following.start() if following else len(text)]
            more = PROGRAMS.match(body)
            names = more.group(1) if more else match.group(1) or match.group(2)
            for name in names.split():
                sections[name] = body
    return sections


@functools.lru_cache(maxsize=1024)
def _model(section: str) -> Model:
    import tomllib  # a third of a millisecond for the first section, none without a command

    keys = tomllib.loads(section)
    entries = [*_entries(keys.get("does", {})), *_entries(keys.get("blocks", {}), blocks=True)]
    by_word: dict[str, list[Entry]] = {}
    others = []
    for entry in entries:
        first = entry.words[0] if entry.words else "*"
        if set(first) & set("*?[") or first == "...":
            others.append(entry)
        else:
            for name in first.split("|"):
                by_word.setdefault(name, []).append(entry)
    other = keys.get("other")
    return Model(
        values=frozenset(_words(keys, "values")),
        long_dash=keys.get("dash") == "long",
        entries=tuple(others),
        by_word={name: tuple(each) for name, each in by_word.items()},
        safe=tuple(_entry("reads", "", text) for text in keys.get("safe", ())),
        other=_entry(*_kind_and_text(other), "@rest") if other else None,
        rehearses=tuple(_words(keys, "rehearses")),
        recursive=tuple(_words(keys, "recursive")),
        reads=keys.get("reads", "all"),
        wraps=keys.get("wraps"),
        shell=tuple(_words(keys, "shell")),
        shell_words=keys.get("shell_words"),
        code=keys.get("code", ""),
        code_options=tuple(_words(keys, "code_options")),
        first_is_code=bool(keys.get("first_is_code")),
        stdin=keys.get("stdin", ""),
        elsewhere=bool(keys.get("elsewhere")),
    )


def _words(keys: Mapping[str, Any], name: str) -> list[str]:
    return str(keys.get(name, "")).split()


def _kind_and_text(key: str) -> tuple[Kind, str]:
    kind, _, text = key.partition(":")
    return cast(Kind, kind.strip()), text.strip()


def _entries(table: Mapping[str, Any], *, blocks: bool = False) -> list[Entry]:
    return [
        _entry(*(("system", key) if blocks else _kind_and_text(key)), text, blocks=blocks)
        for key, texts in table.items()
        for text in ([texts] if isinstance(texts, str) else texts)
    ]


def _entry(kind: str, text: str, pattern: str, *, blocks: bool = False) -> Entry:
    wanted, _, unwanted = f" {pattern} ".partition(" unless ")
    tokens = wanted.split()
    return Entry(
        cast(Kind, kind),
        tuple(each for each in tokens if each[0] not in "-@+"),
        tuple(each for each in tokens if each[0] in "-+"),
        tuple(unwanted.split()),
        next((each[1:] for each in tokens if each[0] == "@"), ""),
        text,
        blocks,
    )
