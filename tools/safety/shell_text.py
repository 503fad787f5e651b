"""A command line taken apart: simple commands, their words and redirections.

Enough of the shell's grammar to tell data from what runs. Nothing is executed; variables that the
same text sets to a plain value are filled in, all others stay as written and mark their word as
``dynamic``. What cannot be read raises `Unreadable`, and must never count as harmless.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from tools.safety.shell_program import Program, Redirection, SimpleCommand, Unreadable, Word

RESERVED = frozenset(
    ["if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time"]
)
CHANGES_VARIABLES = frozenset(
    ["declare", "export", "for", "local", "read", "readonly", "select", "typeset", "unset"]
)
LONGEST_VALUE = 4_000
SPECIAL = frozenset(" \t\n;&|()<>")

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_OPERATOR = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|()\n]")
_REDIRECTION = re.compile(r"\d*(&>>|<<<|<<-|&>|>>|>\||>&|<&|<>|<<|[<>](?!\())[ \t]*")
_PLAIN = re.compile(r"[^\s'\"\\`$;&|()<>]+")
_PLAIN_IN_QUOTES = re.compile(r'[^"\\`$]+')
_UNTIL_BRACKET = re.compile(r"[^()'\"\\`$]*[()'\"\\`$]")
_MENTION = re.compile(r"(?<![\w$])(?<!\$\{)[A-Za-z_]\w*")
"""A word that may be the name of a variable which is set, not one that is read."""
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_FUNCTION = re.compile(r"\s*\(\s*\)")
_ANSI = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f"}


def parse(text: str, variables: Mapping[str, str] | None = None) -> Program:
    """Take a text apart.

    Raises
    ------
    Unreadable
        For unbalanced quotes or brackets, and here-documents without an end.
    """
    return _Scanner(text, variables or {}).run()


class _Scanner:
    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text = text
        self.at = 0
        self.program = Program(variables=dict(variables))
        self.command = SimpleCommand()
        self.heredocs: list[tuple[SimpleCommand, Word, bool]] = []
        self.depth = 0
        self.odd_splitting = False
        self.mentions = Counter(_MENTION.findall(text))
        self.patterns: list[bool] = []
        """For each open ``case``: whether a pattern is expected next."""

    def run(self) -> Program:
        while self.at < len(self.text):
            self._step()
        self._end_command("")
        if self.heredocs:
            raise Unreadable("a here-document has no end")
        if self.depth:
            raise Unreadable("unbalanced brackets")
        return self.program

    def _step(self) -> None:
        character = self.text[self.at]
        if character in " \t\r":
            self.at += 1
        elif self.text.startswith("\\\n", self.at):
            self.at += 2
        elif character == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif not self.command.words and self.text.startswith("((", self.at):
            self.at = self._skip_arithmetic(self.at + 2)
        elif self.command.words and self.command.words[0].text == "[[":
            self._test_word()
        elif self._redirection():
            return
        elif operator := _OPERATOR.match(self.text, self.at):
            self.at = operator.end()
            self._operator(operator.group())
        else:
            self._add(self._word())

    def _operator(self, operator: str) -> None:
        if operator == ")" and self.patterns and self.patterns[-1]:
            self.command = SimpleCommand()  # the pattern of a `case` is no command
            self.patterns[-1] = False
            return
        if operator == "(" and self.patterns and self.patterns[-1] and self.command.empty:
            return
        self._end_command(operator)
        if operator in "()":
            self.depth += 1 if operator == "(" else -1
            if self.depth < 0:
                raise Unreadable("unbalanced brackets")
        if operator in (";;", ";&", ";;&") and self.patterns:
            self.patterns[-1] = True
        if operator == "\n":
            self._read_heredocs()

    def _end_command(self, operator: str) -> None:
        command, self.command = self.command, SimpleCommand()
        self.command.piped = operator in ("|", "|&")
        if operator == "(" and command.empty:
            self.command.piped = command.piped
        if command.empty or (self.patterns and self.patterns[-1]):
            return  # the latter is one of the patterns of a `case`
        command.ending, command.depth = operator, self.depth
        self._keep_assignments(command)
        self.program.commands.append(command)

    def _keep_assignments(self, command: SimpleCommand) -> None:
        variables = self.program.variables
        assigned = {} if command.words else dict(command.assignments)
        if command.words and command.words[0].text in CHANGES_VARIABLES:
            for word in command.words[1:]:
                variable, is_set, text = word.text.partition("=")
                assigned[variable] = Word(text, word.dynamic or not is_set)
        self.odd_splitting = self.odd_splitting or "IFS" in assigned
        if self.odd_splitting:  # values split where we do not expect it
            variables.clear()
            return
        for name, value in assigned.items():
            # Which of several assignments counts we cannot tell; doubled values fill the memory.
            if value.dynamic or self.mentions[name] > 1 or len(value.text) > LONGEST_VALUE:
                variables.pop(name, None)
            else:
                variables[name] = value.text

    def _add(self, word: Word) -> None:
        """Put a word into the current command, unless it belongs to the grammar."""
        command = self.command
        text = "" if word.quoted else word.text
        if not command.words:
            if text in RESERVED or text == "-p":  # the latter is an option of ``time``
                return
            if text == "esac" and self.patterns:
                self.patterns.pop()
                return
            if match := _FUNCTION.match(self.text, self.at):
                self.at = match.end()
                return
            if (found := _ASSIGNMENT.match(word.text)) and not text.startswith("="):
                name = found.group().rstrip("+=").partition("[")[0]
                is_whole = found.group() == f"{name}="  # no += and no element of an array
                value = Word(word.text[found.end() :], word.dynamic or not is_whole, True)
                command.assignments[name] = value if value.text else self._array()
                return
        command.words.append(word)
        if text == "in" and command.words[0].text == "case":
            self.patterns.append(True)
            self.command = SimpleCommand()
        elif command.words[0].text == "function" and len(command.words) == 2:
            self.command = SimpleCommand()
            if match := _FUNCTION.match(self.text, self.at):
                self.at = match.end()

    def _array(self) -> Word:
        """The value of ``name=(...)``, or nothing if no bracket follows."""
        if not self.text.startswith("(", self.at):
            return Word("", quoted=True)
        self.at += 1
        inside = self._until_bracket()
        self._collect_nested(inside)
        return Word(inside, dynamic=True)

    def _test_word(self) -> None:
        """Inside ``[[ ]]`` arrows and brackets compare."""
        if self.text[self.at] in SPECIAL:
            self.at += 1
            return
        word = self._word()
        self.command.words.append(word)
        if word.text == "]]":
            self._end_command("")

    def _redirection(self) -> bool:
        """Read a redirection, if there is one here."""
        match = _REDIRECTION.match(self.text, self.at)
        if not match:
            return False
        operator, self.at = match.group(1), match.end()
        target_start = self.at
        target = self._word()
        if self.at == target_start:
            raise Unreadable("a redirection to nowhere")
        if operator in ("<<", "<<-"):  # its text comes behind the line
            self.heredocs.append((self.command, target, operator == "<<-"))
        else:
            self.command.redirections.append(Redirection(operator, target))
        return True

    def _read_heredocs(self) -> None:
        waiting, self.heredocs = self.heredocs, []
        for command, delimiter, tabs in waiting:
            lines = []
            while True:
                if self.at >= len(self.text):
                    raise Unreadable("a here-document has no end")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                if (line.lstrip("\t") if tabs else line) == delimiter.text:
                    break
                lines.append(line)
            body = "\n".join(lines)
            if not delimiter.quoted:
                self._collect_nested(body)
            command.redirections.append(Redirection("<<", Word(body, quoted=True)))

    def _collect_nested(self, body: str) -> None:
        """Substitutions in the text of a here-document run, too."""
        inner = _Scanner(body, self.program.variables)
        while inner.at < len(body):
            character = body[inner.at]
            if character == "`":
                inner._backtick()
            elif character == "$" and body[inner.at + 1 : inner.at + 2] not in ("'", '"'):
                inner._dollar()
            else:
                inner.at += 2 if character == "\\" else 1
        self.program.nested += inner.program.nested

    def _word(self) -> Word:
        parts: list[str] = []
        dynamic = quoted = False
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in "<>" and self.text.startswith("(", self.at + 1) and not parts:
                self.at += 2
                self.program.nested.append(self._until_bracket())
                parts.append("<(...)")
                dynamic = True
                continue
            if character in SPECIAL:
                break
            quotes = character in "'\"\\" or self.text.startswith(("$'", '$"'), self.at)
            piece, is_dynamic = self._piece(character)
            parts.append(piece)
            # An unquoted value with spaces becomes several words.
            splits = character == "$" and not quotes and not is_dynamic and len(piece.split()) != 1
            quoted, dynamic = quoted or quotes, dynamic or is_dynamic or splits
        return Word("".join(parts), dynamic, quoted)

    def _piece(self, character: str) -> tuple[str, bool]:
        if character == "'":
            return self._single_quoted(), False
        if character == '"':
            self.at += 1
            return self._double_quoted()
        if character == "\\":
            self.at += 2
            return self.text[self.at - 1 : self.at].replace("\n", ""), False
        if character == "`":
            return self._backtick(), True
        if character == "$":
            return self._dollar()
        match = _PLAIN.match(self.text, self.at)
        self.at = match.end() if match else self.at + 1
        return match.group() if match else character, False

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("a quote is not closed")
        inner, self.at = self.text[self.at + 1 : end], end + 1
        return inner

    def _double_quoted(self) -> tuple[str, bool]:
        """From behind the opening quote to behind the closing one."""
        parts: list[str] = []
        dynamic = False
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return "".join(parts), dynamic
            if character == "\\" and self.text[self.at + 1 : self.at + 2] in tuple('$`"\\\n'):
                parts.append(self.text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif character == "`":
                parts.append(self._backtick())
                dynamic = True
            elif character == "$" and self.text[self.at + 1 : self.at + 2] not in ("'", '"'):
                piece, is_dynamic = self._dollar()
                parts.append(piece)
                dynamic = dynamic or is_dynamic
            else:
                match = _PLAIN_IN_QUOTES.match(self.text, self.at)
                parts.append(match.group() if match else character)
                self.at += len(parts[-1])
        raise Unreadable("a quote is not closed")

    def _backtick(self) -> str:
        start = self.at
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != "`":
            self.at += 2 if self.text[self.at] == "\\" else 1
        if self.at >= len(self.text):
            raise Unreadable("a backtick is not closed")
        self.at += 1
        self.program.nested.append(self.text[start + 1 : self.at - 1].replace("\\`", "`"))
        return self.text[start : self.at]

    def _dollar(self) -> tuple[str, bool]:
        start = self.at
        following = self.text[self.at + 1 : self.at + 2]
        if following == "'":
            return self._ansi_quoted(), False
        if following == '"':
            self.at += 2
            return self._double_quoted()
        if self.text.startswith("$((", start):
            self.at = self._skip_arithmetic(start + 3)
            return self.text[start : self.at], True
        if following == "(":
            self.at += 2
            self.program.nested.append(self._until_bracket())
            return self.text[start : self.at], True
        if following == "{":
            return self._braced()
        self.at += 1
        if match := _NAME.match(self.text, self.at):
            self.at = match.end()
            return self._value(match.group(), self.text[start : self.at])
        return "$", False

    def _value(self, name: str, written: str) -> tuple[str, bool]:
        if name in self.program.variables:
            return self.program.variables[name], False
        return written, True

    def _braced(self) -> tuple[str, bool]:
        start = self.at
        self.at += 2
        level = 1
        while self.at < len(self.text) and level:
            character = self.text[self.at]
            if character in "'\"\\`$":
                self._piece(character)
                continue
            level += {"{": 1, "}": -1}.get(character, 0)
            self.at += 1
        if level:
            raise Unreadable("a brace is not closed")
        written = self.text[start : self.at]
        return self._value(written[2:-1], written)

    def _ansi_quoted(self) -> str:
        match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if not match:
            raise Unreadable("a quote is not closed")
        self.at = match.end()
        return _ANSI.sub(_ansi_character, match.group(1))

    def _until_bracket(self) -> str:
        """Text up to the bracket that closes a substitution; leaves the place behind it."""
        start, kept = self.at, len(self.program.nested)
        self._skip_brackets(1, ")")
        del self.program.nested[kept:]  # found again when the text itself is parsed
        return self.text[start : self.at - 1]

    def _skip_arithmetic(self, start: int) -> int:
        self.at = start
        self._skip_brackets(2, "))")
        return self.at

    def _skip_brackets(self, level: int, closing: str) -> None:
        """Go behind the ``closing`` that closes ``level`` open brackets."""
        while match := _UNTIL_BRACKET.match(self.text, self.at):
            self.at = match.end() - 1
            character = match.group()[-1]
            if character not in "()":
                self._piece(character)
                continue
            level += 1 if character == "(" else -1
            self.at += 1
            if not level and self.text.startswith(closing, self.at - len(closing)):
                return
        raise Unreadable("a bracket is not closed")


def _ansi_character(match: re.Match[str]) -> str:
    by_hex, by_unicode, by_octal, other = match.groups()
    if by_hex or by_unicode:
        return chr(int(by_hex or by_unicode, 16))
    if by_octal:
        return chr(int(by_octal, 8) & 0xFF)
    return _ANSI_NAMED.get(other, other)
