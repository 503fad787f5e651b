"""Reads Python code statement by statement, without running it, and collects its effects."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tools.safety.python_code import calling, expressions, shell_door, statements
from tools.safety.python_code.ipython_text import as_python, is_python
from tools.safety.python_code.names import ALIASES, BUILTINS, WELL_KNOWN
from tools.safety.python_code.parsing import parsed
from tools.safety.python_code.values import (
    UNKNOWN,
    Defined,
    Named,
    Unknown,
    Value,
    any_of,
)
from tools.safety.scene import Effect, Scene

MOST_STEPS = 60_000
STEPS_OF_A_COMMAND = 30
LONGEST = 100_000
MOST_BRANCHED_CALLS = 64
DEEPEST = 8


class Tangled(ValueError):
    """There is more to read than is worth it."""


class Reader:
    """The state at one point of the code: variables, folder, effects so far."""

    def __init__(
        self, scene: Scene, *, in_kernel: bool = False, known: Mapping[str, Value] | None = None
    ) -> None:
        self.scene = scene
        self.in_kernel = in_kernel
        self.effects: dict[Effect, None] = {}  # in order, each once
        self.definitions: dict[Effect, None] = {}
        """What functions would do that are defined here."""
        self.scopes: list[dict[str, Value]] = [dict(known or {})]
        self.stars: list[str] = []
        self.replaced: dict[str, Value] = {}
        self.attributes: dict[str, Value] = {}
        self.set_attributes: set[str] = set()
        """Names of attributes that are given a new value somewhere."""
        self.own_methods: dict[str, Defined] = {}
        """``Class.method`` of classes that are defined here."""
        self.outer_names: set[str] = set()
        self.copies_of_environment: set[int] = set()
        self.calling: list[ast.AST] = []
        self.conditional = 0
        self.looping = 0
        self.called: set[tuple[str, ...]] = set()
        """Calls with nothing but constants, as statements."""
        self.nested = 0
        self._given: list[list[Value]] = []
        self._steps = 0
        self._branched = 0

    # What the models of functions may ask for (see `call.Judge`).

    def tell(self, reason: str, *, forbidden: bool = False) -> None:
        self.effects[Effect(reason, forbidden)] = None

    def shell(self, command: str, scene: Scene | None = None) -> None:
        self._steps += STEPS_OF_A_COMMAND
        found = shell_door.effects_of_shell(command, scene or self.scene)
        self.effects.update(dict.fromkeys(found))

    def python(self, source: str) -> Value:
        """Of code that is text in this code."""
        if self.nested >= DEEPEST:
            raise Tangled
        self.nested += 1
        try:
            tree = parsed(source.lstrip(" \t"))
            if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
                return self.evaluate(tree.body[0].value)
            self.block(tree.body)
        except SyntaxError:
            self.tell("runs text that is no Python")
        finally:
            self.nested -= 1
        return UNKNOWN

    def script(self, source: str) -> None:
        inner = Reader(self.scene.inner())
        inner.nested = self.nested + 1
        inner.python(source)
        self.effects.update({**inner.effects, **inner.definitions})

    def cell(self, text: str) -> None:
        self.python(text if is_python(text) else as_python(text))

    def call(
        self, function: Value, args: Sequence[Value], keywords: dict[str, Value] | None = None
    ) -> Value:
        return calling.call(self, function, args, keywords or {})

    def attribute(self, value: Value, name: str) -> Value:
        return expressions.attribute_of(self, value, name)

    # Statements and expressions.

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._steps += 1
            rule = statements.STATEMENTS.get(type(statement))
            if rule is not None:
                rule(self, statement)
            else:
                self._children(statement)

    def maybe(self, body: Sequence[ast.stmt]) -> None:
        """Statements that may or may not run."""
        if body:
            self.conditional += 1
            self.block(body)
            self.conditional -= 1

    def repeat(self, body: Sequence[ast.stmt]) -> None:
        """Statements of a loop: twice, if the first time changes what the second would read."""
        self.looping += 1
        before = dict(self.scopes[-1])
        self.maybe(body)
        after = self.scopes[-1]
        if any(after.get(name) != value for name, value in before.items()):
            self.maybe(body)
        self.looping -= 1

    def evaluate(self, node: ast.AST) -> Value:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Tangled
        rule = expressions.EXPRESSIONS.get(type(node))
        if rule is not None:
            return rule(self, node)
        self._children(node)
        return UNKNOWN

    def _children(self, node: ast.AST) -> None:
        for name in node._fields:  # ast.iter_child_nodes takes twice as long
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.expr):
                    self.evaluate(child)

    def may_branch(self) -> bool:
        """Is a call with several possible arguments still read for each of them?"""
        self._branched += 1
        return self._branched <= MOST_BRANCHED_CALLS

    # Variables.

    def lookup(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        for module in self.stars:
            full = f"{module}.{name}"
            if calling.is_modelled(full):
                return Named(ALIASES.get(full, full))
        if name in BUILTINS:
            return Named(name)
        if name == "__builtins__":
            return Named("builtins")
        if name in WELL_KNOWN:
            return Named(WELL_KNOWN[name])
        if name in calling.ROOTS:
            return Named(name)
        return Unknown(name)

    def set(self, name: str, value: Value) -> None:
        scope = self.scopes[0] if name in self.outer_names else self.scopes[-1]
        if self.conditional and name in scope:
            value = any_of(scope[name], value)
        scope[name] = value

    def bind(self, target: ast.expr, value: Value) -> None:
        statements.bind(self, target, value)

    # Functions of the code.

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Defined:
        """A function; what it would do is read at once, and kept apart."""
        function = Defined(node)
        if isinstance(node, ast.Lambda) or len(self.calling) < calling.DEEPEST_CALL:
            outside, self.effects = self.effects, {}
            folder = self.scene.cwd
            try:
                function.returned = self.body_of(function, calling.bound(node.args, [], {}))
            finally:
                function.effects, self.effects = self.effects, outside
                self.scene.cwd = folder
            self.definitions.update(function.effects)
        return function

    def body_of(self, function: Defined, variables: dict[str, Value]) -> Value:
        node = function.node
        self.calling.append(node)
        self.scopes.append(variables)
        self._given.append([])
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body)
            self.block(node.body)
            return any_of(*self._given[-1]) if self._given[-1] else UNKNOWN
        finally:
            self._given.pop()
            self.scopes.pop()
            self.calling.pop()

    def give(self, value: Value) -> None:
        """Of ``return`` and ``yield``."""
        if self._given:
            self._given[-1].append(value)
