"""The value of each kind of expression, and its effects on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tools.safety.python_code import calling, files, folding
from tools.safety.python_code.call import Call
from tools.safety.python_code.code_models import environment_copied, environment_read, variable_read
from tools.safety.python_code.names import CONSTANTS, full_name, joined_path
from tools.safety.python_code.processes import MANY_FORKS, sets_variable, tell_of_forks
from tools.safety.python_code.values import (
    ANY_KEY,
    HIDDEN_CALLABLE,
    OWN_CLASS,
    UNKNOWN,
    AnyOf,
    Defined,
    FilePath,
    Items,
    Known,
    Made,
    Method,
    Named,
    Table,
    Unknown,
    Value,
    any_of,
    as_text,
    element_of,
    has_hole,
    hole,
)

if TYPE_CHECKING:
    from tools.safety.python_code.reader import Reader

REACHES_INTO = frozenset(("__subclasses__", "__globals__", "__builtins__", "__bases__"))
"""Attributes by which code gets at what nobody gave it."""
MOST_STEPS_OF_COMPREHENSION = 512


def constant(reader: Reader, node: ast.Constant) -> Value:
    return Known(node.value)


def name(reader: Reader, node: ast.Name) -> Value:
    return reader.lookup(node.id)


def attribute(reader: Reader, node: ast.Attribute) -> Value:
    return attribute_of(reader, reader.evaluate(node.value), node.attr)


def attribute_of(reader: Reader, of: Value, attr: str) -> Value:
    """What ``of.attr`` is."""
    if attr in REACHES_INTO:
        if attr != "__bases__":
            reader.tell(f"reaches by {attr} for what the code was not given")
        return HIDDEN_CALLABLE
    if attr == "__call__":
        return of
    match of:
        case Named(base) if attr == "__dict__":
            return Named(f"{base}.__dict__")
        case Named(base):
            full = full_name(f"{base}.{attr}")
            if reader.replaced and full in reader.replaced:
                return reader.replaced[full]
            return CONSTANTS.get(full) or Named(full)
        case AnyOf(values):
            return any_of(*(attribute_of(reader, each, attr) for each in values))
        case FilePath():
            return files.path_attribute(of, attr) or Method(of, attr)
        case Made("os.DirEntry", args) if args and attr in ("path", "name"):
            return args[0]
        case Defined():
            return UNKNOWN
    if of == HIDDEN_CALLABLE:
        return of
    if isinstance(of, Unknown) and of.name:
        kept = reader.attributes.get(f"{of.name}.{attr}")
        if kept is not None:
            return kept
    if isinstance(of, Made) and of.kind.startswith(OWN_CLASS):
        kept = reader.attributes.get(f"{of.kind}.{attr}")
        if kept is not None and not isinstance(kept, Defined):
            return kept
    return Method(of, attr)


def call(reader: Reader, node: ast.Call) -> Value:
    function = reader.evaluate(node.func)
    args: list[Value] = []
    keywords: dict[str, Value] = {}
    spread = False
    for each in node.args:
        if isinstance(each, ast.Starred):
            value = reader.evaluate(each.value)
            if isinstance(value, Items):
                args += value.items
                spread = spread or value.more
            else:
                args.append(element_of(value))
                spread = True
        else:
            args.append(reader.evaluate(each))
    for keyword in node.keywords:
        value = reader.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Table):
            keywords.update({str(key): each for key, each in value.entries.items()})
        else:
            spread = True
    return calling.call(reader, function, args, keywords, spread=spread)


def operation(reader: Reader, node: ast.BinOp) -> Value:
    left, right = reader.evaluate(node.left), reader.evaluate(node.right)
    if isinstance(left, Unknown | Made) and isinstance(right, Unknown | Made):
        return UNKNOWN
    kind = type(node.op)
    if isinstance(left, AnyOf) or isinstance(right, AnyOf):
        lefts = left.values if isinstance(left, AnyOf) else (left,)
        rights = right.values if isinstance(right, AnyOf) else (right,)
        return any_of(*(_operated(reader, kind, one, two) for one in lefts for two in rights))
    return _operated(reader, kind, left, right)


def _operated(reader: Reader, kind: type[ast.operator], left: Value, right: Value) -> Value:
    if kind is ast.Div and (isinstance(left, FilePath) or isinstance(right, FilePath)):
        first, second = files.target_text(left), files.target_text(right)
        return FilePath(joined_path(first or hole(), second or hole()))
    if kind is ast.BitOr and left == Named("os.environ"):
        return environment_copied(Call("copy", [], {}, reader))
    return folding.of_operator(kind, left, right) or UNKNOWN


def formatted(reader: Reader, node: ast.JoinedStr) -> Value:
    texts = []
    hidden = False
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = reader.evaluate(part.value)
        hidden = hidden or folding.is_hidden(value)
        if value == Named("os.environ"):
            environment_read(Call("format", [], {}, reader))
        if part.format_spec is not None:
            reader.evaluate(part.format_spec)
        text = as_text(value)
        plain = part.format_spec is None and part.conversion in (-1, 115)
        texts.append(text if text is not None and plain else hole())
    return Known("".join(texts), hidden)


def items(reader: Reader, node: ast.List | ast.Tuple | ast.Set) -> Value:
    values: list[Value] = []
    more = False
    for each in node.elts:
        if isinstance(each, ast.Starred):
            value = reader.evaluate(each.value)
            if isinstance(value, Items):
                values += value.items
                more = more or value.more
            else:
                values.append(element_of(value))
                more = True
        else:
            values.append(reader.evaluate(each))
    return Items(values, more)


def table(reader: Reader, node: ast.Dict) -> Value:
    entries: dict[Any, Value] = {}
    copied: Value | None = None
    for key, each in zip(node.keys, node.values, strict=True):
        value = reader.evaluate(each)
        if key is None:
            if value == Named("os.environ"):
                copied = environment_copied(Call("copy", [], {}, reader))
            elif isinstance(value, Table):
                entries.update(value.entries)
            elif isinstance(value, Made):
                copied = value
            continue
        plain = files.constant(reader.evaluate(key))
        if isinstance(plain, str | int | float | bytes | None):
            entries[plain] = value
    if copied is not None:
        for plain in entries:
            sets_variable(Call("env", [], {}, reader), plain)
        return copied
    return Table(entries)


def index(reader: Reader, node: ast.Subscript) -> Value:
    of = reader.evaluate(node.value)
    key = reader.evaluate(node.slice)
    match of:
        case Named("os.environ"):
            return variable_read(Call("os.environ", [key], {}, reader))
        case Named("globals()"):
            text = as_text(key)
            known = text is not None and not has_hole(text)
            return reader.lookup(text or "") if known else HIDDEN_CALLABLE
        case Named("sys.modules"):
            text = as_text(key)
            known = text is not None and not has_hole(text)
            return Named(full_name(text or "")) if known else HIDDEN_CALLABLE
        case Named("plumbum.local"):
            return Made("sh.Command", (key,))
        case Named(base) if base.endswith(".__dict__"):
            text = as_text(key)
            if text is None or has_hole(text):
                return HIDDEN_CALLABLE
            return attribute_of(reader, Named(base.removesuffix(".__dict__")), text)
        case Table(entries):
            plain = files.constant(key)
            if isinstance(plain, str | int) and plain in entries:
                return entries[plain]
            if not isinstance(key, Known) and entries:
                return any_of(*entries.values())
            return entries.get(ANY_KEY, UNKNOWN)
        case AnyOf(values):
            return any_of(*(folding.of_index(each, key) or element_of(each) for each in values))
    if of == HIDDEN_CALLABLE:
        return of
    found = folding.of_index(of, key)
    return found if found is not None else element_of(of)


def cut(reader: Reader, node: ast.Slice) -> Value:
    parts = (node.lower, node.upper, node.step)
    return Items([reader.evaluate(part) if part else Known(None) for part in parts])


def choice(reader: Reader, node: ast.IfExp) -> Value:
    reader.evaluate(node.test)
    return any_of(reader.evaluate(node.body), reader.evaluate(node.orelse))


def either(reader: Reader, node: ast.BoolOp) -> Value:
    return any_of(*map(reader.evaluate, node.values))


def function(reader: Reader, node: ast.Lambda) -> Value:
    for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
        reader.evaluate(default)
    return reader.define(node)


def comprehension(
    reader: Reader, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> Value:
    reader.scopes.append({})
    try:
        first = node.generators[0]
        given = reader.evaluate(first.iter)
        steps = _steps(given, node)
        if steps is None or len(steps) >= MANY_FORKS:
            tell_of_forks(reader, getattr(node, "elt", None))
        results: list[Value] = []
        for step in steps if steps is not None else [element_of(given)]:
            reader.bind(first.target, step)
            for test in first.ifs:
                reader.evaluate(test)
            for inner in node.generators[1:]:
                reader.bind(inner.target, element_of(reader.evaluate(inner.iter)))
                for test in inner.ifs:
                    reader.evaluate(test)
            if isinstance(node, ast.DictComp):
                reader.evaluate(node.key)
                results.append(reader.evaluate(node.value))
            else:
                results.append(reader.evaluate(node.elt))
        if isinstance(node, ast.DictComp):
            return UNKNOWN
        return Items(results, more=steps is None)
    finally:
        reader.scopes.pop()


def _steps(given: Value, node: ast.expr) -> list[Value] | None:
    """The elements one by one, if they are known and nothing is left out."""
    generators = getattr(node, "generators", [])
    if len(generators) != 1 or generators[0].ifs:
        return None
    if isinstance(given, Items) and not given.more:
        found = list(given.items)
    elif isinstance(given, Known) and isinstance(given.value, str | bytes):
        found = [Known(each, given.hidden) for each in given.value]
    else:
        return None
    return found if len(found) <= MOST_STEPS_OF_COMPREHENSION else None


def named(reader: Reader, node: ast.NamedExpr) -> Value:
    value = reader.evaluate(node.value)
    reader.bind(node.target, value)
    return value


def awaited(reader: Reader, node: ast.Await) -> Value:
    return reader.evaluate(node.value)


def given_out(reader: Reader, node: ast.Yield | ast.YieldFrom) -> Value:
    if node.value is not None:
        reader.give(reader.evaluate(node.value))
    return UNKNOWN


def inverted(reader: Reader, node: ast.UnaryOp) -> Value:
    value = files.constant(reader.evaluate(node.operand))
    if isinstance(node.op, ast.USub) and isinstance(value, int | float):
        return Known(-value)
    return UNKNOWN


Rule = Callable[[Any, Any], Value]
EXPRESSIONS: Mapping[type[ast.AST], Rule] = {
    ast.Constant: constant,
    ast.Name: name,
    ast.Attribute: attribute,
    ast.Call: call,
    ast.BinOp: operation,
    ast.JoinedStr: formatted,
    ast.List: items,
    ast.Tuple: items,
    ast.Set: items,
    ast.Dict: table,
    ast.Subscript: index,
    ast.Slice: cut,
    ast.IfExp: choice,
    ast.BoolOp: either,
    ast.Lambda: function,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.DictComp: comprehension,
    ast.NamedExpr: named,
    ast.Await: awaited,
    ast.Yield: given_out,
    ast.YieldFrom: given_out,
    ast.UnaryOp: inverted,
}
