"""Words as the shell would pass them on: variables, braces, quotes and fields."""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Callable

from tools.safety.scene import Scene
from tools.safety.shell import syntax
from tools.safety.shell.values import Unreadable, Word

MOST_WORDS = 512
LONGEST_VALUE = 20_000
LONGEST_CHANGED = 500
MOST_IN_BRACES = 64
_SPECIAL = re.compile(r"[*?\[{]")
_GLOB = re.compile(r"[*?]|\[[^\]]+\]")
_BRACES = re.compile(r"\{([^{}]*)\}")
_HIDDEN = {"{": "\ue000", "}": "\ue001", ",": "\ue002", "*": "\ue003", "?": "\ue004", "[": "\ue005"}
_HIDE, _SHOW = str.maketrans(_HIDDEN), str.maketrans({v: k for k, v in _HIDDEN.items()})
_TO_HIDE = re.compile(r"[{},*?\[]")
RunsSubstitution = Callable[[syntax.Substitution, Scene], str | None]
"""Runs what is in it, and says what it prints if that is certain."""


class Expansion:
    """Expands words at one point of a program."""

    def __init__(self, scene: Scene, run: RunsSubstitution) -> None:
        self._scene = scene
        self._run = run

    def words(self, word: syntax.WordSyntax) -> list[Word]:
        """The words that one written word becomes."""
        if isinstance(word, str):
            if not _SPECIAL.search(word):
                return [Word(word)]
            word = (syntax.Literal(word, False),)
        quoted = _only_quoted(word)
        return [quoted] if quoted is not None else self._fields(word, split=True)

    def value(self, word: syntax.WordSyntax) -> Word:
        """The word as the value of an assignment or the target of a redirection."""
        if isinstance(word, str):
            return Word(word, glob=_GLOB.search(word) is not None)
        if (quoted := _only_quoted(word)) is not None:
            return quoted
        fields = self._fields(word, split=False)
        return fields[0] if fields else Word("")

    def _fields(self, parts: tuple[syntax.Part, ...], *, split: bool) -> list[Word]:
        fields = [_Field()]
        for part in parts:
            if isinstance(part, syntax.Literal):
                fields[-1].add(part.text, quoted=part.quoted)
                continue
            for number, value in enumerate(self._values(part)):
                if number:
                    fields.append(_Field())
                self._add(fields, part, value, split=split)
        words = [word for field in fields for word in field.words(braces=split)]
        if len(words) > MOST_WORDS:
            raise Unreadable("it has too many words")
        return words

    def _add(self, fields: list[_Field], part: syntax.Part, value: Word, *, split: bool) -> None:
        quoted = not split or getattr(part, "quoted", False) or value.dynamic
        blanks = self._scene.separators()
        pieces = [value.text]
        if not quoted and any(each in value.text for each in blanks):
            pieces = re.split(f"[{re.escape(blanks)}]+", value.text)
        for number, piece in enumerate(pieces):
            if number:
                fields.append(_Field())
            fields[-1].add_value(piece, value, quoted=quoted)

    def _values(self, part: syntax.Part) -> list[Word]:
        if isinstance(part, syntax.Parameter):
            for each in part.inside:
                self._run(each, self._scene)
            return self._parameter(part)
        if isinstance(part, syntax.Substitution):
            output = self._run(part, self._scene)
            if output is None or part.opening != "$(":
                return [Word(part.written, dynamic=True)]
            return [Word(output.rstrip("\n"), computed=True)]
        assert isinstance(part, syntax.Unknown)
        for each in part.inside:
            self._run(each, self._scene)
        return [Word(part.written, dynamic=True)]

    def _parameter(self, part: syntax.Parameter) -> list[Word]:
        if part.name in ("@", "*") and not part.operator:
            given = self._scene.positional
            return [Word(part.written, dynamic=True)] if given is None else list(given)
        if part.element:
            return self._element(part)
        value = self._scene.variables.get(part.name)
        arguments = [self.value(each) for each in part.arguments]
        if not part.operator:
            known = value or Word(part.written, dynamic=True)
            return [known]
        result = _operated(part, value, arguments, self._scene)
        if part.operator in (":=", "=") and result and value is None:
            self._scene.variables[part.name] = result
        return [result or Word(part.written, dynamic=True)]

    def _element(self, part: syntax.Parameter) -> list[Word]:
        items = self._scene.arrays.get(part.name)
        if items is None or part.operator:
            return [Word(part.written, dynamic=True)]
        if part.element in ("@", "*"):
            return list(items)
        if part.element.isdecimal() and int(part.element) < len(items):
            return [items[int(part.element)]]
        return [Word(part.written, dynamic=True)]


def _only_quoted(word: tuple[syntax.Part, ...]) -> Word | None:
    """The word, if it is nothing but one quoted text."""
    if len(word) != 1 or not isinstance(word[0], syntax.Literal) or not word[0].quoted:
        return None
    text = word[0].text
    if len(text) > LONGEST_VALUE:
        return None
    return Word(f"./{text}" if text[:1] == "~" else text, quoted=True)


class _Field:
    """A word in the making."""

    __slots__ = ("_computed", "_dynamic", "_glob", "_pieces", "_quoted")

    def __init__(self) -> None:
        self._pieces: list[tuple[str, bool]] = []
        self._dynamic = self._computed = self._glob = self._quoted = False

    def add(self, text: str, *, quoted: bool) -> None:
        if quoted and not self._pieces and text.startswith("~"):
            text = f"./{text}"  # a name, not a home folder
        self._quoted |= quoted
        self._pieces.append((text, quoted))

    def add_value(self, text: str, value: Word, *, quoted: bool) -> None:
        self._dynamic |= value.dynamic
        self._computed |= value.computed
        self._glob |= value.glob
        self._quoted |= quoted and not value.dynamic
        if text.startswith("~") and not self._pieces:
            text = f"./{text}"
        self._pieces.append((text, quoted))

    def words(self, *, braces: bool) -> list[Word]:
        if not self._pieces or not (self._quoted or any(text for text, _ in self._pieces)):
            return []
        hides = any(quoted and _TO_HIDE.search(text) for text, quoted in self._pieces)
        text = "".join(
            text.translate(_HIDE) if quoted and hides else text for text, quoted in self._pieces
        )
        if len(text) > LONGEST_VALUE:
            raise Unreadable("its words become too long")
        texts = braces_expanded(text) if braces and "{" in text else [text]
        return [
            Word(
                each.translate(_SHOW) if hides else each,
                self._dynamic,
                self._computed,
                self._glob or _GLOB.search(each) is not None,
                self._quoted,
            )
            for each in texts
        ]


def braces_expanded(text: str) -> list[str]:
    """``a{b,c}`` as ``ab`` and ``ac``; what is no list stays."""
    done, waiting = [], [text]
    while waiting:
        each = waiting.pop(0)
        found = next((m for m in _BRACES.finditer(each) if _choices(m.group(1))), None)
        if found is None:
            done.append(each)
            continue
        before, after = each[: found.start()], each[found.end() :]
        waiting += [f"{before}{choice}{after}" for choice in _choices(found.group(1))]
        if len(waiting) + len(done) > MOST_IN_BRACES:
            raise Unreadable("its braces stand for too many words")
    return done


def _choices(text: str) -> list[str]:
    if "," in text:
        return text.split(",")
    match = re.fullmatch(r"(-?\d{1,4})\.\.(-?\d{1,4})|([a-zA-Z])\.\.([a-zA-Z])", text)
    if match is None:
        return []
    if match.group(3):
        first, last = ord(match.group(3)), ord(match.group(4))
        return [chr(each) for each in range(first, last + 1)]
    numbers = range(int(match.group(1)), int(match.group(2)) + 1)
    return [str(each) for each in itertools.islice(numbers, MOST_IN_BRACES + 1)]


def _operated(
    part: syntax.Parameter, value: Word | None, arguments: list[Word], scene: Scene
) -> Word | None:
    """``${name operator ...}``, where that is easily said."""
    operator = part.operator
    first = arguments[0] if arguments else Word("")
    if operator in (":-", "-", ":=", "="):
        # Of a variable that the line does not set, the default is the best that is known.
        return value if value and (value.text or ":" not in operator) else first
    if operator == "!" and value and not value.dynamic:
        target = scene.variables.get(value.text)
        return target and target._replace(computed=True)
    if value is None or value.dynamic or any(each.dynamic for each in arguments):
        return None
    if operator in (":?", "?"):
        return value
    if operator in (":+", "+"):
        return first
    text = _changed(value.text, operator, [each.text for each in arguments])
    return None if text is None else value._replace(text=text, computed=value.computed)


def _changed(text: str, operator: str, given: list[str]) -> str | None:
    if len(text) > LONGEST_CHANGED or sum(map(len, given)) > LONGEST_CHANGED:
        return None
    match operator, given:
        case "#", []:
            return str(len(text))
        case ("#" | "##") as each, [pattern]:
            ends = range(len(text) + 1) if each == "#" else range(len(text), -1, -1)
            return next((text[e:] for e in ends if fnmatch.fnmatchcase(text[:e], pattern)), text)
        case ("%" | "%%") as each, [pattern]:
            starts = range(len(text), -1, -1) if each == "%" else range(len(text) + 1)
            return next((text[:s] for s in starts if fnmatch.fnmatchcase(text[s:], pattern)), text)
        case "/" | "//", [old, *new] if not _GLOB.search(old):
            return text.replace(old, "".join(new), 1)
        case "///", [old, *new] if not _GLOB.search(old):
            return text.replace(old, "".join(new))
        case "^^", []:
            return text.upper()
        case ",,", []:
            return text.lower()
        case "^", []:
            return text[:1].upper() + text[1:]
        case ",", []:
            return text[:1].lower() + text[1:]
        case ":", [start] if start.isdecimal():
            return text[int(start) :]
        case "::", [start, count] if start.isdecimal() and count.isdecimal():
            return text[int(start) :][: int(count)]
        case "@" | "@Q", _:
            return text
    return None
