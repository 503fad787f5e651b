"""The user's rules: what they look like, and which calls they cover. The only matcher there is.

``terminal``              a tool; ``*`` and ``?`` as in file names
``terminal(git push *)``  a tool with a command, a path, or arguments as JSON text
``write_file(path:src/**)``  a tool, where all it touches is there
``@file``                 a toolset; takes the same brackets
``effect:delete``         whatever does that; takes ``(path:...)``
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.road.cases import ON_CELLS, Case, kind_called
from tools.files import globs

RULE = re.compile(
    r"\s*(?:@(?P<toolset>[\w*?.-]+)|effect:(?P<effect>[\w*?-]+)|(?P<tool>[\w*?.-]+))"
    r"\s*(?:\((?P<inside>.*)\))?\s*",
    re.DOTALL,
)
WILDCARD = re.compile(r"[*?\[]")
SHELL_SYNTAX = re.compile(r"[;&|<>`$(){}\n\\]")
EXAMPLES = "terminal(git push *), @file, write_file(path:src/**), effect:delete"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, read."""

    text: str
    tool: str = ""
    toolset: str = ""
    effect: str = ""
    pattern: str | None = None
    path: str | None = None
    inner_effect: str = ""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule.

        Raises
        ------
        ConfigurationError
            With the text, if it is none.
        """
        return _parsed(text)

    def touches(self, case: Case) -> bool:
        """Does it cover a part of the call? Wildcards match anything, as the user surely meant."""
        if not self._is_about(case):
            return False
        kinds = {each.kind for each in case.impacts}
        if self.inner_effect and not any(fnmatchcase(k, self.inner_effect) for k in kinds):
            return False
        if self.path is not None:
            return any(_path_fits(self.path, place) for place in case.places)
        pattern = self.pattern
        return pattern is None or any(fnmatchcase(each, pattern) for each in case.spellings)

    def covers(self, case: Case) -> bool:
        """Does it cover all of the call and nothing more?

        A pattern with wildcards covers no shell syntax and no way up, and a wildcard in a word no
        second word: ``rm *.tmp`` must allow neither ``rm a.tmp; rm -r ~/.tmp`` nor
        ``rm -r ~ a.tmp``. A ``*`` at the end, as in ``git *``, covers all words.
        """
        if not self._is_all_of(case):
            return False
        if self.path is not None:
            return self._covers_paths(self.path, case)
        pattern = self.pattern
        fits = _fits if case.command is None else _fits_by_word
        return pattern is None or all(fits(each, pattern) for each in case.subjects)

    def _covers_paths(self, path: str, case: Case) -> bool:
        targets = case.targets
        if targets is None:
            return False
        if path.startswith(("/", "~")):
            return all(_path_fits(path, target) for target in targets)
        inside = case.workspace.rstrip("/") + "/"
        return all(
            target.startswith(inside) and _path_fits(path, target.removeprefix(inside))
            for target in targets
        )

    def _is_about(self, case: Case) -> bool:
        """Is it about such calls? What is typed into a shell is a command of the terminal, too."""
        if self.effect:
            return any(fnmatchcase(each.kind, self.effect) for each in case.impacts)
        if self.toolset:
            return fnmatchcase(case.toolset, self.toolset)
        names = {case.call.name, "terminal" if case.toolset == "terminal" else case.call.name}
        return any(fnmatchcase(name, self.tool) for name in names)

    def _is_all_of(self, case: Case) -> bool:
        if self.toolset and not fnmatchcase(case.toolset, self.toolset):
            return False
        if self.tool and not fnmatchcase(case.call.name, self.tool):
            return False
        return all(
            bool(case.changes or case.impacts)
            and all(fnmatchcase(each.kind, kind) for each in case.changes or case.impacts)
            for kind in (self.effect, self.inner_effect)
            if kind
        )


def exact_rule(case: Case) -> str:
    """The rule that covers this call and no other; empty if there is none.

    Where a path says what it means in one folder only, it is written out. A cell is of one
    notebook, and there is none for it.
    """
    if any(each.kind in ON_CELLS for each in case.impacts):
        return ""
    name = case.call.name
    if case.command is not None or not case.named_paths:
        (subject,) = case.subjects
        text = f"{name}({subject})"
    else:
        targets = set(case.targets or ())
        text = f"{name}(path:{targets.pop()})" if len(targets) == 1 else ""
    return text if text and _is_exact(text, case) else ""


def _is_exact(text: str, case: Case) -> bool:
    try:
        rule = Rule.parse(text)
    except ConfigurationError:
        return False
    said = rule.path if rule.path is not None else rule.pattern
    if said is None or WILDCARD.search(rule.tool) or "\n" in text or rule.inner_effect:
        return False
    plain = not WILDCARD.search(said) and not (rule.path is not None and globs.is_glob(said))
    return plain and rule.covers(case)


@lru_cache(maxsize=512)
def _parsed(text: str) -> Rule:
    match = RULE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ConfigurationError(f"{text!r} is no rule; write for example {EXAMPLES}")
    inside = match["inside"]
    head = Rule(
        text, match["tool"] or "", match["toolset"] or "", kind_called(match["effect"] or "")
    )
    if inside is None:
        return head
    kind, colon, value = inside.partition(":")
    if colon and kind in ("path", "effect") and not value.strip():
        raise ConfigurationError(f"{text!r} is no rule; something must follow {kind}:")
    if colon and kind == "path":
        return Rule(text, head.tool, head.toolset, head.effect, path=value.strip())
    if colon and kind == "effect":
        return Rule(
            text, head.tool, head.toolset, head.effect, inner_effect=kind_called(value.strip())
        )
    return Rule(text, head.tool, head.toolset, head.effect, pattern=inside)


def _path_fits(pattern: str, path: str) -> bool:
    written = str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern
    whole = globs.compiled(written.rstrip("/") or "/")
    if whole.fullmatch(path):
        return True
    # ``src`` and ``src/`` stand for the folder and what is in it.
    return (
        not globs.is_glob(written)
        and "/" in path
        and globs.compiled(f"{written.rstrip('/')}/**").fullmatch(path) is not None
    )


def _fits(subject: str, pattern: str) -> bool:
    if WILDCARD.search(pattern) is None:
        return subject == pattern
    if SHELL_SYNTAX.search(subject) or ".." in re.split(r"[/\s]", subject):
        return False
    return fnmatchcase(subject, pattern)


def _fits_by_word(subject: str, pattern: str) -> bool:
    if WILDCARD.search(pattern) is None or not _fits(subject, pattern):
        return subject == pattern
    wanted, words = pattern.split(), subject.split()
    if wanted[-1] == "*":
        wanted, words = wanted[:-1], words[: len(wanted) - 1]
    return len(wanted) == len(words) and all(map(fnmatchcase, words, wanted))
