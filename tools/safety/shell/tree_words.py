"""Words of tree-sitter's tree: quotes, expansions, here-documents."""

from __future__ import annotations

import functools
import re
import threading
import time
from typing import TYPE_CHECKING

from tools.safety.shell import syntax
from tools.safety.shell.quotes import ansi_unquoted, unescaped, unescaped_in_quotes
from tools.safety.shell.values import Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
EXPANSIONS = SUBSTITUTIONS | {"simple_expansion", "expansion", "arithmetic_expansion"}
REDIRECTS = frozenset(("file_redirect", "heredoc_redirect", "herestring_redirect"))
PLAIN = frozenset(("word", "number", "variable_name", "extglob_pattern", "regex"))


NOT_ASCII = bytes(byte if byte < 0x80 else ord("%") for byte in range(256))
"""tree-sitter-bash 0.25 asks C's ``isalnum`` about any character, which reads outside of its table
and may end the process. To bash all of them are ordinary letters of a word, as ``%`` is."""
SHORT = 1_500
MOST_PIPES = 1_200
SECONDS = 0.1
"""Of the processor; 40,000 usual characters take a tenth of it."""


class Parsers(threading.local):
    """A parser for each thread: one that is at work must not be asked by another."""

    @functools.cached_property
    def own(self) -> Parser:
        # Compiled libraries that only a judged command needs, not the loading of the extension.
        import tree_sitter
        import tree_sitter_bash

        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


PARSERS = Parsers()


def parse(source: bytes) -> Tree:
    """The tree of a text; tree-sitter takes quadratic time for some that nobody writes.

    Raises
    ------
    Unreadable
        If it takes too long.
    """
    source = source.translate(NOT_ASCII)  # as long as before, so that places stay what they are
    parser = PARSERS.own
    if len(source) <= SHORT:
        return parser.parse(source)
    if source.count(b"|") > MOST_PIPES:  # of which it makes a tree in one go, not to be stopped
        raise Unreadable("it has too many parts")
    until = time.thread_time() + SECONDS
    try:
        return parser.parse(
            lambda start, _: source[start:],
            progress_callback=lambda _at, _wrong: time.thread_time() > until,
        )
    except ValueError:
        parser.reset()
        raise Unreadable("it is too tangled") from None


class WordReader:
    """Reads the words of one text; what statements are, its subclass knows."""

    def __init__(self, source: str | bytes) -> None:
        self._source = source
        self._depth = 0
        self._statements: dict[str, syntax.Node] = {}
        """By their text: equal ones are the same object, which is judged once."""
        self.doubts = False
        """Whether there is something in the tree that should not be there."""

    def _text(self, start: int, end: int) -> str:
        piece = self._source[start:end]
        return piece if isinstance(piece, str) else piece.decode("utf-8", "replace")

    def _text_of(self, node: Node) -> str:
        return self._text(node.start_byte, node.end_byte)

    def sequence(self, node: Node) -> syntax.Node:
        """Statements with the operators between them."""
        raise NotImplementedError

    def statement(self, node: Node) -> syntax.Node | None:
        """A statement where a word was expected, as in ``time (...)``."""
        raise NotImplementedError

    def read(self, text: str) -> syntax.Node:
        """A text within the text."""
        raise NotImplementedError

    def word(self, node: Node) -> syntax.WordSyntax:
        """A word, unexpanded."""
        kind = node.type
        if kind in PLAIN:
            text = self._text_of(node)
            if "`" in text or "$(" in text:  # of which the tree has not made a substitution
                return self._string_of(text) if "\\" not in text else (self._doubtful(text),)
            return text if "\\" not in text else unescaped(text)
        if kind == "raw_string":
            return (syntax.Literal(self._text(node.start_byte + 1, node.end_byte - 1), True),)
        if kind == "concatenation":
            words = [self.word(child) for child in node.children]
            if all(isinstance(word, str) for word in words):
                return "".join(map(str, words))
            return tuple(part for word in words for part in syntax.parts_of(word))
        if kind == "string":
            return self._string(node)
        if kind == "ansi_c_string":
            return (syntax.Literal(ansi_unquoted(self._text_of(node)[2:-1]), True),)
        if kind in EXPANSIONS:
            return (self._expansion(node, quoted=False),)
        return self._odd_word(node)

    def _odd_word(self, node: Node) -> syntax.WordSyntax:
        text = self._text_of(node)
        if (statement := self.statement(node)) is not None:
            return (syntax.Substitution(text, statement),)
        inside = self._substitutions(node)
        if not inside and set(text) & set("()`"):
            return (self._doubtful(text),)
        return (syntax.Unknown(text, inside),) if inside else text

    def _doubtful(self, text: str) -> syntax.Unknown:
        self.doubts = True
        return syntax.Unknown(text)

    def _string(self, node: Node) -> tuple[syntax.Part, ...]:
        """Of text in double quotes; blanks between expansions are no nodes of the tree."""
        parts: list[syntax.Part] = []
        at, end = node.start_byte + 1, node.end_byte - 1
        for child in node.children:
            if child.type in EXPANSIONS:
                start = child.start_byte  # of which blanks before it may be a part
                start += len(found := self._text_of(child)) - len(found.lstrip())
                if start > at:
                    between = self._text(at, start)
                    parts.append(syntax.Literal(unescaped_in_quotes(between), True))
                parts.append(self._expansion(child, quoted=True))
                at = child.end_byte
        if end > at or not parts:
            parts.append(syntax.Literal(unescaped_in_quotes(self._text(at, end)), True))
        return tuple(parts)

    def _expansion(self, node: Node, *, quoted: bool) -> syntax.Part:
        text, kind = self._text_of(node).lstrip(), node.type
        if kind in SUBSTITUTIONS:
            return self._substitution(node, quoted=quoted)
        if kind == "simple_expansion":
            return syntax.Parameter(text, text[1:], quoted=quoted)
        if kind == "expansion":
            return self._braced(node, text, quoted=quoted)
        return syntax.Unknown(text, self._substitutions(node))

    def _substitution(self, node: Node, *, quoted: bool) -> syntax.Substitution:
        self._depth += 1
        text = self._text_of(node).lstrip()
        opening = text[:2] if text[:1] != "`" else "$("
        if text.startswith("`") and "\\" in text:  # in which \` and \$ mean another level
            inner = re.sub(r"\\([`$\\])", r"\1", text[1:-1])
            body = self.read(inner)
        elif len(node.children) == 3 and node.children[1].type == "file_redirect":
            body = syntax.Simple(("cat",), (), (self._redirect(node.children[1]),))
        else:
            body = self.sequence(node)
        self._depth -= 1
        return syntax.Substitution(text, body, opening, quoted)

    def _substitutions(self, node: Node) -> tuple[syntax.Substitution, ...]:
        """All substitutions somewhere in a node."""
        found, waiting = [], [node]
        while waiting:
            each = waiting.pop()
            if each.type in SUBSTITUTIONS:
                found.append(self._substitution(each, quoted=False))
            else:
                waiting += each.children
        return tuple(found)

    def _braced(self, node: Node, text: str, *, quoted: bool) -> syntax.Part:
        name, operator, index = "", "", ""
        arguments: list[syntax.WordSyntax] = []
        inside: tuple[syntax.Substitution, ...] = ()
        for child in node.children[1:-1]:
            kind = child.type
            if kind in ("variable_name", "special_variable_name") and not name:
                name = self._text_of(child)
            elif kind == "subscript":
                name, _, index = self._text_of(child).partition("[")
                index, inside = index.rstrip("]"), self._substitutions(child)
            elif not child.is_named:
                operator += kind if not arguments or kind != ":" else ":"
            else:
                arguments.append(self.word(child))
        return syntax.Parameter(text, name, operator, tuple(arguments), index, quoted, inside)

    def _redirect(self, node: Node) -> syntax.Redirect:
        if node.type == "herestring_redirect":
            return syntax.Redirect("<<<", self.word(node.children[-1]))
        if node.type == "heredoc_redirect":
            return syntax.Redirect("<<", self._heredoc(node))
        descriptor = node.child_by_field_name("descriptor")
        target = node.child_by_field_name("destination")
        operator = next((each.type for each in node.children if not each.is_named), ">")
        return syntax.Redirect(
            operator,
            self.word(target) if target is not None else "-",
            self._text_of(descriptor) if descriptor is not None else "",
        )

    def _heredoc(self, node: Node) -> syntax.WordSyntax:
        start = next((each for each in node.children if each.type == "heredoc_start"), None)
        body = next((each for each in node.children if each.type == "heredoc_body"), None)
        text = self._text_of(body) if body is not None else ""
        if node.children and node.children[-1].type != "heredoc_end":
            raise Unreadable("a here-document has no end")
        if any(each.type == "<<-" for each in node.children):
            text = re.sub(r"^\t+", "", text, flags=re.MULTILINE)
        literal = start is not None and set(self._text_of(start)) & set("'\"\\")
        if literal or not re.search(r"[$`\\]", text):
            return (syntax.Literal(text, True),)
        # The tree has some of the substitutions in a here-document only; in a string it has all.
        return self._string_of(text)

    def _string_of(self, text: str) -> syntax.WordSyntax:
        """A text as in double quotes."""
        quoted = text.replace('"', '\\"')
        node = self.read(f': "{quoted}"')
        if not isinstance(node, syntax.Simple) or len(node.words) != 2:
            raise Unreadable("a here-document cannot be read")
        return node.words[1]
