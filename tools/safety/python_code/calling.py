"""What a call does: by the model of its function, by its method's name, by the body it has here."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tools.safety.python_code import calls, files, folding, special
from tools.safety.python_code.call import Call
from tools.safety.python_code.code_models import called
from tools.safety.python_code.names import ALIASES, BUILTINS, CONSTANTS, full_name
from tools.safety.python_code.processes import git_method, is_program, program_as_function
from tools.safety.python_code.tables import words
from tools.safety.python_code.values import (
    HIDDEN_CALLABLE,
    OWN_CLASS,
    UNKNOWN,
    AnyOf,
    Collection,
    Defined,
    FilePath,
    Function,
    Inert,
    Items,
    Known,
    Made,
    Method,
    Named,
    Passed,
    Table,
    Unknown,
    Value,
    any_of,
    element_of,
)

if TYPE_CHECKING:
    from tools.safety.python_code.reader import Reader

DEEPEST_CALL = 4
MOST_MEMBERS = 32
CALLS_WHAT_IT_IS_GIVEN = ("map", "functools.partial", "functools.reduce")
MAKERS = {
    "boto3.client": "boto3.client",
    "boto3.resource": "boto3.resource",
    "boto3.session.Session": "boto3.Session",
    "get_ipython": "get_ipython",
    "socket.socket": "socket.socket",
    "socket.create_connection": "socket.socket",
    "logging.getLogger": "logging.Logger",
}
"""Functions that make objects, though their names are no class names."""


def call(
    reader: Reader,
    function: Value,
    args: Sequence[Value],
    keywords: dict[str, Value],
    *,
    spread: bool = False,
) -> Value:
    """Add the effects of a call; what it returns."""
    if isinstance(function, AnyOf):
        return any_of(
            *(call(reader, each, args, keywords, spread=spread) for each in function.values)
        )
    if isinstance(function, Inert):
        _pass_on(reader, args, keywords)
        if isinstance(function, Unknown) and function.name.startswith(OWN_CLASS):
            return _made_here(reader, Made(function.name), args, keywords)
        return UNKNOWN
    for position, argument in enumerate(args):
        if isinstance(argument, AnyOf) and reader.may_branch():
            results = [
                call(
                    reader, function, [*args[:position], each, *args[position + 1 :]], keywords,
                    spread=spread,
                )
                for each in argument.values
            ]  # fmt: skip
            return any_of(*results)
    match function:
        case Named(name):
            return _function(reader, Call(name, list(args), keywords, reader, spread))
        case Method(receiver, name):
            return _method(reader, receiver, Call(name, list(args), keywords, reader, spread))
        case Defined():
            _pass_on(reader, args, keywords)
            return _defined(reader, function, args, keywords)
        case Made(kind):
            if function == HIDDEN_CALLABLE:
                reader.tell("calls a function that is chosen when it runs")
            elif kind == "sh.Command":
                program_as_function(Call("sh", [*function.args, *args], keywords, reader, spread))
            elif kind in ("functools.partial", "operator.attrgetter", "operator.methodcaller"):
                return called(Call("", list(args), keywords, reader, spread), function)
            else:
                _pass_on(reader, args, keywords)
    return UNKNOWN


def _function(reader: Reader, given: Call) -> Value:
    name = given.name
    looks_only = name in calls.LOOKS_ONLY and not (name == "type" and len(given.args) > 1)
    looks_only = looks_only or name.startswith(calls.LOOKS_ONLY_IN)
    if not looks_only and name not in CALLS_WHAT_IT_IS_GIVEN:
        _pass_on(reader, given.args, given.keywords)
    model = calls.FUNCTIONS.get(name)
    handler = special.FUNCTIONS.get(name)
    if model is not None and handler is None:
        files.apply(model, given)
    elif is_program(Named(name)):
        program_as_function(given)
    files.secrets_among(given)
    folded = folding.of_function(name, given.args) if not given.keywords else None
    if folded is not None:
        return folded
    if handler is not None:
        return handler(given)
    last = name.rpartition(".")[2]
    if name.startswith("pathlib.Path.") and given.args and isinstance(given.args[0], FilePath):
        return files.path_method(given.args[0], last, given.args[1:]) or UNKNOWN
    if last in calls.WRITERS and "." in name and not model:
        files.saved(Call(name, [UNKNOWN, *given.args], given.keywords, reader, given.spread))
    if name in MAKERS:
        return Made(MAKERS[name], tuple(given.args))
    return Made(name, tuple(given.args)) if last[:1].isupper() else UNKNOWN


def _method(reader: Reader, receiver: Value, given: Call) -> Value:
    """Of an object; what it is, is known at best by the class that made it."""
    name = given.name
    match receiver:
        case AnyOf(values):
            return any_of(
                *(call(reader, Method(each, name), given.args, given.keywords) for each in values)
            )
        case Known():
            result = folding.of_method(receiver, name, given.args)
            _pass_on(reader, given.args, given.keywords)
            return result or UNKNOWN
        case Items():
            return _list_method(receiver, name, given.args)
        case Table(entries):
            return _table_method(entries, name, given.args)
        case FilePath():
            return _path_method(reader, receiver, given)
    with_receiver = Call(name, [receiver, *given.args], given.keywords, reader, given.spread)
    _pass_on(reader, given.args, given.keywords)
    if isinstance(receiver, Made):
        kind = f"{receiver.kind}.{name}"
        if kind in special.FUNCTIONS or kind in calls.FUNCTIONS:
            with_receiver.name = kind
            return _function(reader, with_receiver)
        own = _own_method(reader, receiver, name)
        if own is not None:
            return _defined(reader, own, with_receiver.args, given.keywords)
        if receiver.kind.startswith(calls.CLOUD):
            if calls.REMOTE_CHANGES.fullmatch(name):
                reader.tell(f"changes something at another host ({name})")
            return receiver
        if receiver.kind.startswith(calls.HARMLESS_KINDS):
            return UNKNOWN
    if _is_git(receiver):
        return git_method(with_receiver)
    if name in special.METHODS:
        return special.METHODS[name](with_receiver)
    if name in calls.WRITERS:
        return files.saved(with_receiver)
    model = calls.METHODS.get(name)
    if model is not None:
        files.apply(model, with_receiver)
    elif name.startswith(("delete_", "terminate_")) and name not in calls.QUIET_METHODS:
        reader.tell(f"deletes or ends something by {name}")
    if files.method_may_read(name):
        files.secrets_among(given)
    return Unknown("content") if name in ("read", "readlines", "getvalue") else UNKNOWN


def _made_here(
    reader: Reader, made: Made, args: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """An object of a class that is defined in this code."""
    beginning = _own_method(reader, made, "__init__")
    if beginning is not None:
        _defined(reader, beginning, [made, *args], keywords)
    return made


def _own_method(reader: Reader, receiver: Made, name: str) -> Defined | None:
    """The method of a class that is defined in this code, if nothing takes its place."""
    if not receiver.kind.startswith(OWN_CLASS) or name in reader.set_attributes:
        return None
    return reader.own_methods.get(f"{receiver.kind}.{name}")


def _path_method(reader: Reader, path: FilePath, given: Call) -> Value:
    name = given.name
    with_path = Call(
        f"pathlib.Path.{name}", [path, *given.args], given.keywords, reader, given.spread
    )
    if name in files.READING:
        files.reads_secret(with_path, path.text)
    handler = special.FUNCTIONS.get(with_path.name)
    if handler is not None:
        return handler(with_path)
    if model := calls.FUNCTIONS.get(with_path.name):
        files.apply(model, with_path)
    _pass_on(reader, given.args, given.keywords)
    return files.path_method(path, name, given.args) or UNKNOWN


def _is_git(receiver: Value) -> bool:
    return isinstance(receiver, Method) and receiver.name == "git"


def _list_method(given: Items, name: str, args: list[Value]) -> Value:
    first = args[0] if args else UNKNOWN
    if name in ("append", "add", "appendleft") and first is not given:
        given.items.append(first)
    elif name == "insert" and len(args) > 1 and args[1] is not given:
        place = files.constant(first)
        given.items.insert(place if isinstance(place, int) else len(given.items), args[1])
    elif name in ("extend", "update"):
        more = first.items if isinstance(first, Items) else []
        given.items.extend(more[: folding.MOST_ITEMS])
        given.more = given.more or not isinstance(first, Items) or first.more
    elif name in ("pop", "popleft"):
        return element_of(given)
    elif name == "reverse":
        given.items.reverse()
    elif name == "copy":
        return Items(list(given.items), given.more)
    elif name in ("remove", "discard", "clear", "sort"):
        given.more = True
    return UNKNOWN


def _table_method(entries: dict[object, Value], name: str, args: list[Value]) -> Value:
    if name in ("get", "pop", "setdefault", "__getitem__"):
        key = files.constant(args[0]) if args else None
        if isinstance(key, str | int) and key in entries:
            return entries[key]
        return any_of(*entries.values(), *args[1:2]) if entries else UNKNOWN
    if name == "values":
        return Items(list(entries.values()))
    if name == "items":
        return Items([Items([Known(key), value]) for key, value in entries.items()])
    if name == "update" and args and isinstance(args[0], Table):
        entries.update(args[0].entries)
    return UNKNOWN


def _pass_on(reader: Reader, args: Sequence[Value], keywords: dict[str, Value]) -> None:
    """Functions that are given to a function may be called by it, with what follows them."""
    for position, value in enumerate(args):
        if isinstance(value, Collection):
            _pass_members(reader, value)
        elif isinstance(value, Passed):
            _pass(reader, value, list(args[position + 1 :]))
    for name, value in keywords.items():
        if isinstance(value, Passed):
            given = keywords.get("args") if name in ("target", "func", "function") else None
            _pass(reader, value, given.items if isinstance(given, Items) else [])


def _pass_members(reader: Reader, value: Collection) -> None:
    """Functions in a list or a table."""
    members = value.items if isinstance(value, Items) else list(value.entries.values())
    for each in members[:MOST_MEMBERS]:
        if isinstance(each, Named | Defined):
            _pass(reader, each, [])


def _pass(reader: Reader, value: Value, rest: list[Value]) -> None:
    match value:
        case Named("os.environ"):
            reader.tell("reads the whole environment, which may hold secrets")
        case Named(name):
            if name in calls.FUNCTIONS or name in ACTS:
                call(reader, value, [element_of(each) if isinstance(each, Items) else each
                                     for each in rest] or [UNKNOWN], {})  # fmt: skip
        case Defined(effects=effects):
            reader.effects.update(effects)
        case Method(receiver, name):
            if isinstance(receiver, FilePath | Made) or name in calls.METHODS:
                call(reader, value, rest, {})
        case Made("functools.partial"):
            call(reader, value, rest, {})
        case AnyOf(values):
            for each in values:
                if isinstance(each, Function):
                    _pass(reader, each, rest)


ACTS = frozenset(
    name
    for name, handler in special.FUNCTIONS.items()
    if handler.__module__.endswith(("processes", "ipython"))
    or handler.__name__ in ("executes", "imported", "attribute_by_name", "ends_process", "sends")
)
"""Functions with models of their own that act, whatever they are given."""


def _defined(
    reader: Reader, function: Defined, args: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """Read the body again with these arguments."""
    node = function.node
    if node in reader.calling or len(reader.calling) >= DEEPEST_CALL:
        reader.effects.update(function.effects)
        return function.returned
    if not function.effects and isinstance(function.returned, Known):
        return function.returned
    return reader.body_of(function, bound(node.args, args, keywords))


def bound(
    parameters: ast.arguments, args: Sequence[Value], keywords: dict[str, Value]
) -> dict[str, Value]:
    """The variables of a function that is called like this."""
    names = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    variables: dict[str, Value] = {name: Unknown(name) for name in names}
    variables.update({each.arg: Unknown(each.arg) for each in parameters.kwonlyargs})
    variables.update(zip(names, args, strict=False))
    if parameters.vararg:
        variables[parameters.vararg.arg] = Items(list(args[len(names) :]))
    variables.update({name: value for name, value in keywords.items() if name in variables})
    return variables


_ORDINARY_WORDS = words("test code notebook commands display record ngrok")
ROOTS = (
    frozenset(
        name.partition(".")[0]
        for name in (*calls.FUNCTIONS, *special.FUNCTIONS, *folding.FUNCTIONS, *ALIASES)
        if "." in name
    )
    - BUILTINS
    - _ORDINARY_WORDS
)
"""Modules that a name most likely stands for, if an earlier cell has imported it."""


def is_modelled(name: str) -> bool:
    name = full_name(name)
    tables = (calls.FUNCTIONS, special.FUNCTIONS, folding.FUNCTIONS, CONSTANTS)
    return any(name in table for table in tables)
