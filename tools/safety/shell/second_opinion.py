"""A second parser, shfmt, for the texts that the first one does not understand.

It is a program of its own and costs milliseconds; where it is not installed, such texts are asked
about.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.safety.shell import syntax
from tools.safety.shell.quotes import ansi_unquoted, unescaped, unescaped_in_quotes

LONGEST = 20_000
SECONDS = 2
DIALECTS = ("bash", "zsh")
QUALIFIED = re.compile(r"(?<=[*?\w])\([-.@/=*N^omLnDukgr0-9,]{1,6}\)")
"""Files of a kind, in zsh."""
IN_A_WORD = re.compile(r"[^\s;|&(){}$<>=]\s*\((?!\))")
"""What else is in parentheses there, zsh may run."""
Tree = dict[str, Any]


def read_by_shfmt(text: str) -> syntax.Node | None:
    """The program in a text, if shfmt is there and understands it."""
    program = _program()
    if program is None or len(text) > LONGEST or "\0" in text:
        return None
    for dialect in DIALECTS:
        if dialect == "zsh" and IN_A_WORD.search(QUALIFIED.sub("", text)):
            return None
        tree = _tree(program, dialect, text)
        if tree is not None:
            return _Reader(text).statements(tree.get("Stmts"))
    return None


@functools.cache
def _program() -> str | None:
    beside = Path(sys.executable).parent / "shfmt"  # of the same virtual environment
    found = str(beside) if beside.exists() else shutil.which("shfmt")
    tree = _tree(found, "bash", "a | b") if found else None
    # Before its version 4 it wrote numbers for operators.
    return found if tree is not None and tree["Stmts"][0]["Cmd"]["Op"] == "|" else None


def _tree(program: str, dialect: str, text: str) -> Tree | None:
    try:
        done = subprocess.run(
            [program, "-ln", dialect, "--to-json"],
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        tree = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


class _Reader:
    """Turns shfmt's tree into ours."""

    def __init__(self, text: str) -> None:
        self._source = text.encode("utf-8", "replace")

    def statements(self, trees: list[Tree] | None) -> syntax.Node:
        parts = tuple(
            (self._statement(each), "&" if each.get("Background") else ";") for each in trees or ()
        )
        return parts[0][0] if len(parts) == 1 and parts[0][1] == ";" else syntax.Sequence(parts)

    def _statement(self, tree: Tree) -> syntax.Node:
        redirects = tuple(map(self._redirect, tree.get("Redirs") or ()))
        command = tree.get("Cmd")
        if command is None:
            return syntax.Simple((), (), redirects)
        read = COMMANDS.get(command["Type"])
        body = read(self, command) if read else syntax.Test(tuple(self._inside(command)))
        if not redirects:
            return body
        if isinstance(body, syntax.Simple):
            return body._replace(redirects=body.redirects + redirects)
        return syntax.Redirected(body, redirects)

    def _call(self, tree: Tree) -> syntax.Node:
        words = tuple(map(self.word, tree.get("Args") or ()))
        return syntax.Simple(words, tuple(map(self._assignment, tree.get("Assigns") or ())))

    def _declaration(self, tree: Tree) -> syntax.Node:
        words: list[syntax.WordSyntax] = [tree["Variant"]["Value"]]
        assignments = []
        for each in tree.get("Args") or ():
            if each.get("Naked"):
                words.append(self.word(each["Value"]) if "Value" in each else each["Name"]["Value"])
            else:
                assignments.append(self._assignment(each))
        return syntax.Simple(tuple(words), tuple(assignments), declares=True)

    def _assignment(self, tree: Tree) -> syntax.Assignment:
        items = None
        if array := tree.get("Array"):
            items = tuple(self.word(each.get("Value")) for each in array.get("Elems") or ())
        name = (tree.get("Name") or {}).get("Value", "")
        append, indexed = bool(tree.get("Append")), "Index" in tree
        return syntax.Assignment(name, self.word(tree.get("Value")), items, append, indexed)

    def _redirect(self, tree: Tree) -> syntax.Redirect:
        operator = tree["Op"]
        if operator in ("<<", "<<-"):
            return syntax.Redirect("<<", self.word(tree.get("Hdoc")))
        number = (tree.get("N") or {}).get("Value", "")
        if operator == "<>":  # writes over the beginning; as standard input it makes the file only
            operator = ">>" if number in ("", "0") else ">"
        return syntax.Redirect(operator, self.word(tree["Word"]), number)

    def _binary(self, tree: Tree) -> syntax.Node:
        first, second = self._statement(tree["X"]), self._statement(tree["Y"])
        if tree["Op"] in ("|", "|&"):
            before = first.stages if isinstance(first, syntax.Pipeline) else (first,)
            return syntax.Pipeline((*before, second))
        parts: tuple[tuple[syntax.Node, str], ...] = ((first, tree["Op"]),)
        if isinstance(first, syntax.Sequence) and first.parts and not first.parts[-1][1]:
            parts = (*first.parts[:-1], (first.parts[-1][0], tree["Op"]))
        return syntax.Sequence((*parts, (second, "")))

    def _block(self, tree: Tree) -> syntax.Node:
        return self.statements(tree.get("Stmts"))

    def _subshell(self, tree: Tree) -> syntax.Node:
        return syntax.Subshell(self.statements(tree.get("Stmts")))

    def _clause(self, tree: Tree) -> syntax.Node:
        """``time`` and ``coproc``."""
        body = self._statement(tree["Stmt"]) if tree.get("Stmt") else syntax.NOTHING
        if tree["Type"] == "CoprocClause" and isinstance(body, syntax.Simple):
            return body._replace(words=("coproc", *body.words))
        return body

    def _if(self, tree: Tree) -> syntax.Node:
        bodies = [self.statements(tree.get("Then"))]
        if other := tree.get("Else"):
            bodies.append(self._if(other))
        return syntax.Branch((self.statements(tree.get("Cond")),), tuple(bodies))

    def _while(self, tree: Tree) -> syntax.Node:
        condition = self.statements(tree.get("Cond"))
        return syntax.Loop("", (), condition, self.statements(tree.get("Do")))

    def _for(self, tree: Tree) -> syntax.Node:
        loop, body = tree["Loop"], self.statements(tree.get("Do"))
        if loop["Type"] != "WordIter":
            return syntax.Loop("", (), syntax.Test(tuple(self._inside(loop))), body)
        values = tuple(map(self.word, loop.get("Items") or ()))
        return syntax.Loop(loop["Name"]["Value"], values, None, body)

    def _case(self, tree: Tree) -> syntax.Node:
        items = tuple(self.statements(each.get("Stmts")) for each in tree.get("Items") or ())
        return syntax.Branch((syntax.Test(tuple(self._inside(tree["Word"]))),), items)

    def _function(self, tree: Tree) -> syntax.Node:
        return syntax.Function(
            (tree.get("Name") or {}).get("Value", ""), self._statement(tree["Body"])
        )

    def _test(self, tree: Tree) -> syntax.Node:
        return syntax.Test(tuple(self._inside(tree)), "[[" if tree["Type"] == "TestClause" else "")

    def word(self, tree: Tree | None) -> syntax.WordSyntax:
        """A word, unexpanded."""
        parts = [part for each in (tree or {}).get("Parts") or () for part in self._part(each)]
        if all(isinstance(each, syntax.Literal) and not each.quoted for each in parts):
            return "".join(each.text for each in parts if isinstance(each, syntax.Literal))
        return tuple(parts)

    def _part(self, tree: Tree, *, quoted: bool = False) -> list[syntax.Part]:
        value = tree.get("Value", "")
        match tree["Type"]:
            case "Lit" if quoted:
                return [syntax.Literal(unescaped_in_quotes(value), True)]
            case "Lit":
                return list(unescaped(value)) if "\\" in value else [syntax.Literal(value, False)]
            case "SglQuoted":
                return [syntax.Literal(ansi_unquoted(value) if tree.get("Dollar") else value, True)]
            case "DblQuoted":
                inner = [
                    p for each in tree.get("Parts") or () for p in self._part(each, quoted=True)
                ]
                return inner or [syntax.Literal("", True)]
            case "CmdSubst":
                body = self.statements(tree.get("Stmts"))
                return [syntax.Substitution(self._written(tree), body, "$(", quoted)]
            case "ProcSubst":
                body = self.statements(tree.get("Stmts"))
                return [syntax.Substitution(self._written(tree), body, tree["Op"], quoted)]
            case "ParamExp":
                return [self._parameter(tree, quoted=quoted)]
            case "ExtGlob":
                return [syntax.Literal("*", False)]
        return [syntax.Unknown(self._written(tree), tuple(self._inside(tree)))]

    def _parameter(self, tree: Tree, *, quoted: bool) -> syntax.Part:
        written = self._written(tree)
        odd = {
            "Length",
            "Excl",
            "Width",
            "Slice",
            "Repl",
            "Names",
            "Flags",
            "NestedParam",
        } & tree.keys()
        name = (tree.get("Param") or {}).get("Value", "")
        index = tree.get("Index")
        element = self.word(index) if index and index["Type"] == "Word" else ()
        if odd or (index and ("Exp" in tree or not isinstance(element, str))):
            return syntax.Unknown(written, tuple(self._inside(tree)))
        if isinstance(element, str):
            return syntax.Parameter(written, name, element=element, quoted=quoted)
        if expansion := tree.get("Exp"):
            arguments = (self.word(expansion.get("Word")),)
            return syntax.Parameter(written, name, expansion["Op"], arguments, quoted=quoted)
        return syntax.Parameter(written, name, quoted=quoted)

    def _written(self, tree: Tree) -> str:
        start, end = tree["Pos"].get("Offset", 0), tree["End"].get("Offset", 0)
        return self._source[start:end].decode("utf-8", "replace")

    def _inside(self, tree: Any) -> Iterator[syntax.Substitution]:
        """All substitutions somewhere in a part of the tree."""
        if isinstance(tree, list):
            for each in tree:
                yield from self._inside(each)
        elif isinstance(tree, dict):
            if tree.get("Type") in ("CmdSubst", "ProcSubst"):
                body = self.statements(tree.get("Stmts"))
                yield syntax.Substitution(self._written(tree), body)
            else:
                for each in tree.values():
                    yield from self._inside(each)


COMMANDS: dict[str, Callable[[_Reader, Tree], syntax.Node]] = {
    "CallExpr": _Reader._call,
    "DeclClause": _Reader._declaration,
    "BinaryCmd": _Reader._binary,
    "Block": _Reader._block,
    "Subshell": _Reader._subshell,
    "TimeClause": _Reader._clause,
    "CoprocClause": _Reader._clause,
    "IfClause": _Reader._if,
    "WhileClause": _Reader._while,
    "ForClause": _Reader._for,
    "CaseClause": _Reader._case,
    "FuncDecl": _Reader._function,
    "TestClause": _Reader._test,
    "ArithmCmd": _Reader._test,
    "LetClause": _Reader._test,
}
