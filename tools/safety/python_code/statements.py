"""The effects of each kind of statement, and what it does to the variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from tools.safety.python_code import calls, files, folding
from tools.safety.python_code.call import Call
from tools.safety.python_code.calling import ACTS
from tools.safety.python_code.code_models import environment_read
from tools.safety.python_code.names import CONSTANTS, full_name
from tools.safety.python_code.processes import MANY_FORKS, sets_variable, tell_of_forks
from tools.safety.python_code.tables import words
from tools.safety.python_code.values import (
    ANY_KEY,
    OWN_CLASS,
    UNKNOWN,
    Defined,
    Items,
    Made,
    Named,
    Table,
    Unknown,
    Value,
    any_of,
    as_text,
    element_of,
)

if TYPE_CHECKING:
    from tools.safety.python_code.reader import Reader

KEEPS_FUNCTION = words(
    "staticmethod classmethod property functools.cache functools.lru_cache functools.wraps "
    "contextlib.contextmanager abc.abstractmethod typing.overload pytest.fixture "
    "functools.cached_property contextlib.asynccontextmanager numba.jit numba.njit "
    "functools.singledispatch typing.final dataclasses.dataclass functools.total_ordering"
)
"""Decorators that do not call what they decorate."""


RUN_CODE = frozenset(("exec", "eval"))


def expression(reader: Reader, node: ast.Expr) -> None:
    if type(node.value) is ast.Call and _is_repeated(reader, node.value):
        return
    value = reader.evaluate(node.value)
    if isinstance(value, Named) and value.name == "os.environ":
        environment_read(Call("show", [], {}, reader))
        return
    text = as_text(value)
    if text and text.startswith("\ue000secret_"):
        reader.tell("shows a variable of the environment that holds a secret")


def _is_repeated(reader: Reader, node: ast.Call) -> bool:
    """Was the same function called with the same constants before? Then it does the same again."""
    if type(node.func) is not ast.Name or node.keywords or reader.calling:
        return False
    constants = [each.value for each in node.args if type(each) is ast.Constant]
    function = reader.lookup(node.func.id)
    if len(constants) < len(node.args) or not isinstance(function, Named):
        return False
    if function.name in RUN_CODE:
        return False
    call = (function.name, reader.scene.cwd, *map(repr, constants))
    known = call in reader.called
    reader.called.add(call)
    return known


def assignment(reader: Reader, node: ast.Assign) -> None:
    value = reader.evaluate(node.value)
    for target in node.targets:
        reader.bind(target, value)


def annotated(reader: Reader, node: ast.AnnAssign) -> None:
    reader.evaluate(node.annotation)
    if node.value is not None:
        reader.bind(node.target, reader.evaluate(node.value))


def changed(reader: Reader, node: ast.AugAssign) -> None:
    value = reader.evaluate(node.value)
    if not isinstance(node.target, ast.Name):
        reader.evaluate(node.target)
        return
    before = reader.lookup(node.target.id)
    if reader.looping:
        after: Value = Unknown(node.target.id)
    else:
        after = folding.of_operator(type(node.op), before, value) or Unknown(node.target.id)
    if isinstance(before, Items) and isinstance(value, Items):
        after = Items([*before.items, *value.items], before.more or value.more)
    reader.bind(node.target, after)


def imports(reader: Reader, node: ast.Import) -> None:
    for alias in node.names:
        if alias.asname:
            reader.set(alias.asname, Named(full_name(alias.name)))
        else:
            head = alias.name.partition(".")[0]
            reader.set(head, Named(full_name(head)))


def imports_from(reader: Reader, node: ast.ImportFrom) -> None:
    for alias in node.names:
        if node.level or not node.module:
            reader.set(alias.asname or alias.name, UNKNOWN)
        elif alias.name == "*":
            reader.stars.append(full_name(node.module))
        else:
            name = full_name(f"{full_name(node.module)}.{alias.name}")
            reader.set(alias.asname or alias.name, CONSTANTS.get(name) or Named(name))


def branches(reader: Reader, node: ast.If) -> None:
    reader.evaluate(node.test)
    reader.maybe(node.body)
    reader.maybe(node.orelse)


def loop(reader: Reader, node: ast.For | ast.AsyncFor) -> None:
    given = reader.evaluate(node.iter)
    reader.bind(node.target, element_of(given))
    if len(node.body) == 1 and not (isinstance(given, Items) and len(given.items) < MANY_FORKS):
        _fork_bomb(reader, node.body)
    reader.repeat(node.body)
    reader.maybe(node.orelse)


def endless(reader: Reader, node: ast.While) -> None:
    reader.evaluate(node.test)
    if isinstance(node.test, ast.Constant) and node.test.value:
        _fork_bomb(reader, node.body)
    reader.repeat(node.body)
    reader.maybe(node.orelse)


def _fork_bomb(reader: Reader, body: list[ast.stmt]) -> None:
    """A loop without end that does little more than to start copies of the process."""
    if len(body) > 3:
        return
    for statement in body:
        value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
        tell_of_forks(reader, value)


def context(reader: Reader, node: ast.With | ast.AsyncWith) -> None:
    for item in node.items:
        value = reader.evaluate(item.context_expr)
        if item.optional_vars is not None:
            reader.bind(item.optional_vars, value)
    reader.block(node.body)


def attempt(reader: Reader, node: ast.Try) -> None:
    reader.maybe(node.body)
    for handler in node.handlers:
        if handler.type is not None:
            reader.evaluate(handler.type)
        if handler.name:
            reader.set(handler.name, UNKNOWN)
        reader.maybe(handler.body)
    reader.maybe(node.orelse)
    reader.block(node.finalbody)


def selection(reader: Reader, node: ast.Match) -> None:
    reader.evaluate(node.subject)
    for case in node.cases:
        for each in ast.walk(case.pattern):
            captured = getattr(each, "name", None)
            if isinstance(captured, str):
                reader.set(captured, UNKNOWN)
        if case.guard is not None:
            reader.evaluate(case.guard)
        reader.maybe(case.body)


def definition(reader: Reader, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
        reader.evaluate(default)
    for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if parameter.annotation is not None:
            reader.evaluate(parameter.annotation)
    function = reader.define(node)
    _decorated(reader, node, function)
    reader.set(node.name, function)


def _decorated(
    reader: Reader, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, what: Value
) -> None:
    for each in node.decorator_list:
        decorator = reader.evaluate(each)
        inner = reader.evaluate(each.func) if isinstance(each, ast.Call) else decorator
        if isinstance(inner, Named) and inner.name in KEEPS_FUNCTION:
            continue
        reader.call(decorator, [what])


def class_definition(reader: Reader, node: ast.ClassDef) -> None:
    for base in node.bases:
        reader.evaluate(base)
    for keyword in node.keywords:
        reader.evaluate(keyword.value)
    reader.scopes.append({})
    try:
        reader.block(node.body)
    finally:
        members = reader.scopes.pop()
    own = f"{OWN_CLASS}{node.name} {node.lineno}"
    plain = {each.name for each in node.body if _is_plain_method(each)}
    for name, value in members.items():
        reader.attributes[f"{own}.{name}"] = value
        if name in plain and isinstance(value, Defined):
            reader.own_methods[f"{own}.{name}"] = value
        if name.startswith("__") and isinstance(value, Named) and _acts(value):
            reader.call(value, [UNKNOWN])
    reader.set(node.name, Unknown(own))
    _decorated(reader, node, UNKNOWN)


def _is_plain_method(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.decorator_list


def _acts(value: Named) -> bool:
    return value.name in calls.FUNCTIONS or value.name in ACTS


def returned(reader: Reader, node: ast.Return) -> None:
    if node.value is not None:
        reader.give(reader.evaluate(node.value))


def raised(reader: Reader, node: ast.Raise) -> None:
    for each in (node.exc, node.cause):
        if each is not None:
            value = reader.evaluate(each)
            if reader.in_kernel and isinstance(value, Named | Made):
                name = value.name if isinstance(value, Named) else value.kind
                if name == "SystemExit":
                    reader.tell(calls.ENDS_KERNEL)


def deleted(reader: Reader, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            reader.scopes[-1].pop(target.id, None)
        else:
            for child in ast.iter_child_nodes(target):
                if isinstance(child, ast.expr):
                    reader.evaluate(child)


def bind(reader: Reader, target: ast.expr, value: Value) -> None:
    """Give a value to a variable, or to several."""
    match target:
        case ast.Name(id=name):
            reader.set(name, Unknown(name) if value == UNKNOWN else value)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _bind_several(reader, targets, value)
        case ast.Starred(value=inner):
            bind(reader, inner, Items([value], more=True))
        case ast.Attribute(value=of, attr=attr):
            _bind_attribute(reader, reader.evaluate(of), attr, value)
        case ast.Subscript(value=of, slice=key):
            _bind_item(reader, reader.evaluate(of), reader.evaluate(key), value)


def _bind_several(reader: Reader, targets: list[ast.expr], value: Value) -> None:
    exact = (
        isinstance(value, Items)
        and not value.more
        and len(value.items) == len(targets)
        and not any(isinstance(each, ast.Starred) for each in targets)
    )
    for position, target in enumerate(targets):
        if exact and isinstance(value, Items):
            bind(reader, target, value.items[position])
        else:
            bind(reader, target, element_of(value))


def _bind_attribute(reader: Reader, of: Value, attr: str, value: Value) -> None:
    reader.set_attributes.add(attr)
    if isinstance(of, Named):
        reader.replaced[full_name(f"{of.name}.{attr}")] = value
        if of.name == "builtins":
            reader.scopes[0][attr] = value
    elif isinstance(of, Unknown) and of.name:
        reader.attributes[f"{of.name}.{attr}"] = value
    elif isinstance(of, Made) and of.kind.startswith(OWN_CLASS):
        key = f"{of.kind}.{attr}"  # one for all objects of the class
        known = reader.attributes.get(key)
        reader.attributes[key] = value if known is None else any_of(known, value)
    if attr == "__code__":
        reader.tell(calls.UNSEEN)


def _bind_item(reader: Reader, of: Value, key: Value, value: Value) -> None:
    plain = files.constant(key)
    match of:
        case Named("os.environ") | Made("os.environ.copy"):
            sets_variable(Call("set", [], {}, reader), plain)
        case Named("globals()") if isinstance(plain, str):
            reader.scopes[0][plain] = value
        case Table(entries) if isinstance(plain, str | int):
            entries[plain] = any_of(entries[plain], value) if plain in entries else value
        case Table(entries):
            entries[ANY_KEY] = any_of(*entries.values(), value)
        case Items(held) if isinstance(plain, int) and -len(held) <= plain < len(held):
            held[plain] = any_of(held[plain], value) if reader.conditional else value


def names_of_others(reader: Reader, node: ast.Global | ast.Nonlocal) -> None:
    reader.outer_names.update(node.names)


Rule = Callable[[Any, Any], None]
STATEMENTS: Mapping[type[ast.AST], Rule] = {
    ast.Expr: expression,
    ast.Assign: assignment,
    ast.AnnAssign: annotated,
    ast.AugAssign: changed,
    ast.Import: imports,
    ast.ImportFrom: imports_from,
    ast.If: branches,
    ast.For: loop,
    ast.AsyncFor: loop,
    ast.While: endless,
    ast.With: context,
    ast.AsyncWith: context,
    ast.Try: attempt,
    ast.TryStar: attempt,
    ast.Match: selection,
    ast.FunctionDef: definition,
    ast.AsyncFunctionDef: definition,
    ast.ClassDef: class_definition,
    ast.Return: returned,
    ast.Raise: raised,
    ast.Delete: deleted,
    ast.Global: names_of_others,
    ast.Nonlocal: names_of_others,
}
