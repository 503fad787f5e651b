"""From tree-sitter's tree of a shell text to our syntax."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tools.safety.shell import syntax
from tools.safety.shell.tree_words import REDIRECTS, WordReader, parse
from tools.safety.shell.values import Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 60
OPERATORS = frozenset(("|", "|&", "&&", "||", ";", "&", ";;", "\n"))
COMPOUND = frozenset(("subshell", "compound_statement"))
TIMED = frozenset((("time",), ("time", "-p"), ("coproc",)))
"""Words of the shell behind which may be a compound command."""
NO_COMMANDS = frozenset((
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "{", "}",
))  # fmt: skip
"""Words that are part of a compound command; where they are taken for programs, it was not seen."""
CHAINS = frozenset(("list", "pipeline", "redirected_statement"))
Item = syntax.Node | str
"""A statement, or the operator between two."""


def parsed(text: str) -> tuple[syntax.Node, bool]:
    """The program, and whether all of the text was understood.

    Raises
    ------
    Unreadable
        If it is nested too deeply, or takes too long.
    """
    source = text.encode("utf-8", "surrogatepass")
    root = parse(source).root_node
    reader = _Reader(text if len(source) == len(text) else source)
    program = reader.sequence(root)
    return program, not (root.has_error or reader.doubts)


class _Reader(WordReader):
    """Reads the statements of one text."""

    def read(self, text: str) -> syntax.Node:
        return parsed(text)[0]

    def statement(self, node: Node) -> syntax.Node | None:
        return self._joined(self._chain(node)) if node.type in STATEMENTS else None

    def sequence(self, node: Node) -> syntax.Node:
        """Statements with the operators between them."""
        return self._joined(self._items(node.children))

    def _items(self, nodes: list[Node]) -> list[Item]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable("it is nested too deeply")
        items: list[Item] = []
        for node in nodes:
            kind = node.type
            if kind in OPERATORS:
                items.append(kind)
            elif kind in CHAINS or kind in STATEMENTS or kind in ("ERROR", "heredoc_redirect"):
                items += self._chain(node)
        self._depth -= 1
        return items

    def _chain(self, node: Node) -> list[Item]:
        """The links of ``a | b && c``, whose nesting in the tree does not follow the shell's."""
        behind: list[list[Item]] = []
        while node.type in ("list", "pipeline") and node.child_count:
            first, *rest = node.children
            behind.append(self._items(rest))
            if first.type in OPERATORS:  # the rest of a line behind a here-document
                behind.append([first.type])
                break
            node = first
        else:
            behind.append(self._one(node))
        return [item for items in reversed(behind) for item in items]

    def _one(self, node: Node) -> list[Item]:
        match node.type:
            case "redirected_statement":
                return self._redirected(node)
            case "negated_command" | "ERROR":
                return self._items(node.children)
            case "heredoc_redirect":
                return self._behind_heredoc(node)
        text = self._text_of(node)
        made = self._statements.get(text)
        if made is None:
            made = self._statements[text] = STATEMENTS[node.type](self, node)
        return [made]

    def _redirected(self, node: Node) -> list[Item]:
        redirects = [each for each in node.children if each.type in REDIRECTS]
        body = node.child_by_field_name("body")
        links: list[Item] = [syntax.Simple(())]
        if body is not None:
            links = self._chain(body)
        given = tuple(self._redirect(each) for each in redirects)
        given += tuple(
            self._redirect(child)
            for each in redirects
            if each.type == "heredoc_redirect"
            for child in each.children
            if child.type in REDIRECTS
        )
        words = tuple(self._swallowed(redirects))
        last = next((at for at in range(len(links) - 1, -1, -1) if not _is_operator(links[at])), 0)
        links[last] = _with_redirects(links[last], given, words)
        for each in redirects:
            if each.type == "heredoc_redirect":
                links += self._behind_heredoc(each)
        return links

    def _swallowed(self, redirects: list[Node]) -> Iterator[syntax.WordSyntax]:
        """Arguments behind a redirection, which the tree counts to it."""
        for node in redirects:
            if node.type == "file_redirect":
                yield from map(self.word, node.children_by_field_name("destination")[1:])
            elif node.type == "heredoc_redirect":
                yield from map(self.word, node.children_by_field_name("argument"))

    def _behind_heredoc(self, node: Node) -> list[Item]:
        """What follows on the line of ``<<X``: its statements are children of the redirection."""
        return self._items(
            [each for each in node.children if each.type not in REDIRECTS and each.type != "<<"]
        )

    def _joined(self, items: list[Item]) -> syntax.Node:
        parts: list[tuple[syntax.Node, str]] = []
        stages: list[syntax.Node] = []
        piped = False
        for item in items:
            if not isinstance(item, str):
                if stages and not piped:
                    parts.append((_pipeline(stages), ";"))
                    stages = []
                stages.append(item)
                piped = False
            elif item in ("|", "|&"):
                piped = True
            elif stages:
                parts.append((_pipeline(stages), item))
                stages = []
        if stages:
            parts.append((_pipeline(stages), ""))
        return parts[0][0] if len(parts) == 1 and not parts[0][1] else syntax.Sequence(tuple(parts))

    def simple(self, node: Node) -> syntax.Node:
        """A command with its assignments, words and redirections."""
        assignments: list[syntax.Assignment] = []
        words: list[syntax.WordSyntax] = []
        redirects: list[Node] = []
        end = -1
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment" and not words:
                assignments.append(self._assignment(child))
            elif kind in REDIRECTS:
                redirects.append(child)
            elif kind in COMPOUND:
                if not assignments and tuple(words) in TIMED:
                    return self.sequence(node.children[-1])
                self.doubts = True
            elif kind == "ERROR":
                words += [self._text_of(child)]
            else:
                self._add_word(words, child, end)
                end = child.end_byte
        words += self._swallowed(redirects)
        if words and words[0] in NO_COMMANDS:
            self.doubts = True
        given = tuple(self._redirect(each) for each in redirects)
        return syntax.Simple(tuple(words), tuple(assignments), given)

    def _add_word(self, words: list[syntax.WordSyntax], node: Node, end: int) -> None:
        word = self.word(node.children[0] if node.type == "command_name" else node)
        start = node.start_byte
        if words and (start == end or (start == end + 2 and self._text(end, start) == "\\\n")):
            before = "" if words[-1] == "$" and node.type == "string" else words[-1]
            words[-1] = _joined_words(syntax.parts_of(before), syntax.parts_of(word))
        else:
            words.append(word)

    def _declaration(self, node: Node) -> syntax.Node:
        first, *rest = node.children
        words: list[syntax.WordSyntax] = [self._text_of(first)]
        assignments = []
        for child in rest:
            if child.type == "variable_assignment":
                assignments.append(self._assignment(child))
            elif child.type not in REDIRECTS:
                words.append(self.word(child))
        return syntax.Simple(tuple(words), tuple(assignments), (), declares=True)

    def _assignment(self, node: Node) -> syntax.Assignment:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        assert name is not None
        items = None
        if value is not None and value.type == "array":
            items = tuple(map(self.word, value.named_children))
            value = None
        return syntax.Assignment(
            re.split(r"\[", self._text_of(name))[0],
            self.word(value) if value is not None else "",
            items,
            append=any(child.type == "+=" for child in node.children),
            indexed=name.type == "subscript",
        )

    def _assignments(self, node: Node) -> syntax.Node:
        return syntax.Simple((), tuple(map(self._assignment, node.named_children)))

    def _lone_assignment(self, node: Node) -> syntax.Node:
        return syntax.Simple((), (self._assignment(node),))

    def _group(self, node: Node) -> syntax.Node:
        if node.children and node.children[0].type == "((":
            return syntax.Test(self._substitutions(node))
        return self.sequence(node)

    def _subshell(self, node: Node) -> syntax.Node:
        return syntax.Subshell(self.sequence(node))

    def _test(self, node: Node) -> syntax.Node:
        test = syntax.Test(self._substitutions(node), node.children[0].type)
        if node.children[0].type != "[":
            return test
        compared = [each for each in _all_in(node) if each.type == "binary_expression"]
        redirects = tuple(
            syntax.Redirect(each.children[1].type, self.word(each.children[2]))
            for each in compared
            if each.child_count == 3 and each.children[1].type in ("<", ">", ">>")
        )  # which the tree takes for comparisons
        return syntax.Redirected(test, redirects) if redirects else test

    def _if(self, node: Node) -> syntax.Node:
        conditions = [each for each in node.children_by_field_name("condition") if each.is_named]
        known = {each.id for each in conditions}
        bodies = [each for each in node.named_children if each.id not in known]
        others = [each for each in bodies if each.type in ("elif_clause", "else_clause")]
        main = [each for each in node.children if each.id not in known and each not in others]
        maybe = [self._joined(self._items(main)), *map(self.sequence, others)]
        return syntax.Branch((self._joined(self._items(conditions)),), tuple(maybe))

    def _while(self, node: Node) -> syntax.Node:
        body = node.child_by_field_name("body")
        condition = self._joined(self._items(node.children_by_field_name("condition")))
        return syntax.Loop("", (), condition, self._body(body))

    def _for(self, node: Node) -> syntax.Node:
        variable = node.child_by_field_name("variable")
        values = tuple(map(self.word, node.children_by_field_name("value")))
        name = self._text_of(variable) if variable is not None else ""
        return syntax.Loop(name, values, None, self._body(node.child_by_field_name("body")))

    def _counting_for(self, node: Node) -> syntax.Node:
        body = node.child_by_field_name("body")
        head = [each for each in node.children if body is None or each.id != body.id]
        inside = tuple(sub for each in head for sub in self._substitutions(each))
        return syntax.Loop("", (), syntax.Test(inside), self._body(body))

    def _body(self, node: Node | None) -> syntax.Node:
        return self.sequence(node) if node is not None else syntax.NOTHING

    def _case(self, node: Node) -> syntax.Node:
        value = node.child_by_field_name("value")
        inside = self._substitutions(value) if value is not None else ()
        items = [self._case_item(each) for each in node.children if each.type == "case_item"]
        return syntax.Branch((syntax.Test(inside),), tuple(items))

    def _case_item(self, node: Node) -> syntax.Node:
        values = {each.id for each in node.children_by_field_name("value")}
        return self._joined(self._items([each for each in node.children if each.id not in values]))

    def _function(self, node: Node) -> syntax.Node:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        redirects = [self._redirect(each) for each in node.children if each.type in REDIRECTS]
        made = self._joined(self._items([body])) if body is not None else syntax.NOTHING
        if redirects:
            made = syntax.Redirected(made, tuple(redirects))
        return syntax.Function(self._text_of(name) if name is not None else "", made)


STATEMENTS: dict[str, Callable[[_Reader, Node], syntax.Node]] = {
    "command": _Reader.simple,
    "declaration_command": _Reader._declaration,
    "unset_command": _Reader._declaration,
    "variable_assignment": _Reader._lone_assignment,
    "variable_assignments": _Reader._assignments,
    "compound_statement": _Reader._group,
    "subshell": _Reader._subshell,
    "test_command": _Reader._test,
    "if_statement": _Reader._if,
    "while_statement": _Reader._while,
    "for_statement": _Reader._for,
    "c_style_for_statement": _Reader._counting_for,
    "case_statement": _Reader._case,
    "function_definition": _Reader._function,
    "negated_command": _Reader.sequence,
}


def _all_in(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += each.children


def _joined_words(
    before: tuple[syntax.Part, ...], behind: tuple[syntax.Part, ...]
) -> tuple[syntax.Part, ...]:
    """Of the tree's pieces; it takes the ``$2`` of ``$1/$2`` for a dollar and a number."""
    last, first = before[-1:], behind[:1]
    match last, first:
        case (syntax.Literal(text, False),), (syntax.Literal(number, False),) if (
            text.endswith("$") and number[:1].isdigit()
        ):
            given = syntax.Parameter(f"${number[0]}", number[0])
            shorter = syntax.Literal(text[:-1], False), given, syntax.Literal(number[1:], False)
            return before[:-1] + shorter + behind[1:]
    return before + behind


def _is_operator(item: Item) -> bool:
    return isinstance(item, str)


def _pipeline(stages: list[syntax.Node]) -> syntax.Node:
    return stages[0] if len(stages) == 1 else syntax.Pipeline(tuple(stages))


def _with_redirects(
    item: Item, redirects: tuple[syntax.Redirect, ...], words: tuple[syntax.WordSyntax, ...]
) -> syntax.Node:
    if isinstance(item, str):
        return syntax.Simple(words, (), redirects)
    if isinstance(item, syntax.Simple):
        return item._replace(words=item.words + words, redirects=item.redirects + redirects)
    return syntax.Redirected(item, redirects)
