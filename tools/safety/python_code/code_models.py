"""Models of Python functions that run code, or reach names by way of text."""

from __future__ import annotations

import operator
import re
from functools import reduce
from pathlib import Path

from tools.safety.python_code.call import Call
from tools.safety.python_code.calls import ENDS_KERNEL, UNSEEN
from tools.safety.python_code.files import constant, target_text
from tools.safety.python_code.folding import is_hidden, known, plain
from tools.safety.python_code.names import full_name
from tools.safety.python_code.processes import sets_variable
from tools.safety.python_code.values import (
    HIDDEN_CALLABLE,
    NOTHING,
    UNKNOWN,
    Defined,
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
)

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|_PAT$|AUTH", re.IGNORECASE)
_RUNS_IN_BROWSER = re.compile(
    r"kernel|fetch\(|XMLHttp|ajax|cookie|sendBeacon|WebSocket|eval\(|import\(|Function\(|"
    r"localStorage|\.src\s*=|\.submit\(|Jupyter\.|\.click\("
)
_SCRIPT = re.compile(r"<script|\bon\w+\s*=|javascript:", re.IGNORECASE)
MOST_MAPPED = 512
MOST_COUNTED = 64


def executes(call: Call) -> Value:
    """``exec`` and ``eval``."""
    code = call.argument(0, "source", "object")
    if isinstance(code, Made) and code.kind == "compiled" and code.args:
        code = code.args[0]
    text = as_text(code) if isinstance(code, Known) else None
    if text is None or has_hole(text):
        call.judge.tell(UNSEEN)
        return UNKNOWN
    if is_hidden(code or UNKNOWN):
        call.judge.tell("runs code that was written in a code")
    return call.judge.python(text)


def compiles(call: Call) -> Value:
    source = call.argument(0, "source")
    text = as_text(source) if isinstance(source, Known) else None
    if text is None or has_hole(text):
        call.judge.tell(UNSEEN)
    return Made("compiled", (source or UNKNOWN,))


def imported(call: Call) -> Value:
    """``__import__`` and ``importlib.import_module``."""
    name = constant(call.argument(0, "name"))
    if not isinstance(name, str):
        call.judge.tell("imports a module that is not known before it runs")
        return HIDDEN_CALLABLE
    if call.name == "__import__" and not call.keywords.get("fromlist") and len(call.args) < 4:
        name = name.partition(".")[0]
    return Named(full_name(name))


def attribute_by_name(call: Call) -> Value:
    """``getattr(x, name)``."""
    of, name = call.argument(0), constant(call.argument(1))
    if of is None:
        return UNKNOWN
    if isinstance(name, str):
        return call.judge.attribute(of, name)
    return HIDDEN_CALLABLE if isinstance(of, Named | Made) else UNKNOWN


def attributes(call: Call) -> Value:
    """``vars(os)``."""
    of = call.argument(0)
    return Named(f"{of.name}.__dict__") if isinstance(of, Named) else UNKNOWN


def variables(call: Call) -> Value:
    """``globals()`` and ``locals()``."""
    return Named("globals()")


def getter(call: Call) -> Value:
    """``operator.attrgetter(name)`` and ``operator.methodcaller(name, ...)``."""
    return Made(call.name, tuple(call.args))


def item_by_function(call: Call) -> Value:
    of, key = call.argument(0), call.argument(1)
    if isinstance(of, Named) and of.name.endswith(".__dict__") and key is not None:
        return attribute_by_name(
            Call("getattr", [Named(of.name.removesuffix(".__dict__")), key], {}, call.judge)
        )
    return UNKNOWN


def bound(call: Call) -> Value:
    """``functools.partial(f, ...)``."""
    return Made("functools.partial", tuple(call.args))


def mapped(call: Call) -> Value:
    """``map(f, items)``: of constants it gives constants."""
    if len(call.args) != 2:
        return UNKNOWN
    function, given = call.args
    if isinstance(given, Items) and not given.more and len(given.items) <= MOST_MAPPED:
        return Items([call.judge.call(function, [item]) for item in given.items])
    if isinstance(given, Known) and isinstance(given.value, bytes | str):
        items = [Known(each, given.hidden) for each in given.value[:MOST_MAPPED]]
        return Items([call.judge.call(function, [item]) for item in items])
    return Items([call.judge.call(function, [element_of(given)])], more=True)


def same_items(call: Call) -> Value:
    """``sorted``, ``list``, ``tqdm`` and others give what they are given."""
    given = call.args[-1] if call.name == "filter" and call.args else call.argument(0)
    if given is None:
        return Items([])
    if isinstance(given, Items):
        return Items(list(given.items), given.more)
    if isinstance(given, Known) and isinstance(given.value, str | bytes) and len(given.value) < 999:
        return Items([Known(each, given.hidden) for each in given.value])
    return given if isinstance(given, Table) else Items([element_of(given)], more=True)


def reversed_items(call: Call) -> Value:
    given = same_items(call)
    if isinstance(given, Items):
        given.items.reverse()
    return given


def numbered(call: Call) -> Value:
    """``enumerate(items)``."""
    each = element_of(call.argument(0) or UNKNOWN)
    return Items([Items([UNKNOWN, each])], more=True)


def paired(call: Call) -> Value:
    """``zip(a, b)``."""
    return Items([Items([element_of(each) for each in call.args])], more=True)


def counted(call: Call) -> Value:
    """``range(n)``."""
    numbers = [constant(each) for each in call.args]
    limits = [each for each in numbers if isinstance(each, int) and abs(each) < 99_999]
    if numbers and len(limits) == len(numbers):
        try:
            span = range(*limits)
        except (ValueError, TypeError):
            return UNKNOWN
        if len(span) <= MOST_COUNTED:
            return Items([Known(each) for each in span])
    return UNKNOWN


def summed(call: Call) -> Value:
    """``functools.reduce(getattr, names, os)``, or a fold of constants."""
    function, given = call.argument(0), call.argument(1)
    if isinstance(given, Items) and not given.more and function is not None:
        start = call.args[2:3] or given.items[:1]
        rest = given.items if call.args[2:] else given.items[1:]
        if start and len(rest) <= MOST_MAPPED:
            return reduce(
                lambda so_far, each: call.judge.call(function, [so_far, each]), rest, start[0]
            )
    if function is not None:
        call.judge.call(function, [UNKNOWN, element_of(given or UNKNOWN)])
    return UNKNOWN


def dictionary(call: Call) -> Value:
    """``dict(os.environ, A="1")``."""
    of = call.argument(0)
    if isinstance(of, Named) and of.name == "os.environ":
        return environment_copied(call)
    if of is None and not call.spread:
        return Table(dict(call.keywords))
    return of if isinstance(of, Table | Made) else UNKNOWN


def environment_copied(call: Call) -> Value:
    """A copy is for a child, as a rule: it is told at the end unless one was given it."""
    number = len(call.judge.copies_of_environment) + 1
    while number in call.judge.copies_of_environment:
        number += 1
    call.judge.copies_of_environment.add(number)
    return Made("os.environ.copy", (Known(number),))


def environment_read(call: Call) -> Value:
    call.judge.tell("reads the whole environment, which may hold secrets")
    return UNKNOWN


def variable_read(call: Call) -> Value:
    """``os.getenv(name)``."""
    at = 0
    name = constant(call.argument(at, "key"))
    if name == "HOME":
        return Known(str(Path.home()))
    if name == "PWD":
        return Known(call.judge.scene.cwd)
    if isinstance(name, str) and SECRET_NAME.search(name):
        return Unknown(f"secret_{re.sub('[^A-Za-z0-9_]', '_', name)}")
    return Unknown(name if isinstance(name, str) and name.isidentifier() else "")


def variables_set(call: Call) -> Value:
    """``os.environ.update(...)``, ``os.putenv``."""
    of = call.argument(0)
    names = [*call.keywords, *(of.entries if isinstance(of, Table) else [])]
    if isinstance(of, Known):
        names.append(str(of.value))
    for name in names:
        sets_variable(call, name)
    return UNKNOWN


def shows(call: Call) -> Value:
    """``print`` and ``display``: of a secret they make a saved output."""
    for value in (*call.args, *call.keywords.values()):
        text = as_text(value)
        if text and "\ue000secret_" in text:
            call.judge.tell("shows a variable of the environment that holds a secret")
        if isinstance(value, Named) and value.name == "os.environ":
            environment_read(call)
        if isinstance(value, Table) and _is_bundle(call):
            for kind, part in value.entries.items():
                _goes_to_browser(call, as_text(part), is_script="javascript" in str(kind))
    return NOTHING


def _is_bundle(call: Call) -> bool:
    """Is a table that it shows a bundle by MIME type, as in ``display({...}, raw=True)``?"""
    return call.name.endswith("publish_display_data") or (
        call.keywords.get("raw", Known(False)) != Known(False)
    )


def scripted(call: Call) -> Value:
    """``HTML(...)`` and ``Javascript(...)``, which run in the browser with the person's rights."""
    _goes_to_browser(call, call.text(0, "data"), is_script=call.name.endswith("Javascript"))
    return Made(call.name)


def _goes_to_browser(call: Call, text: str | None, *, is_script: bool) -> None:
    has_script = is_script or bool(text and _SCRIPT.search(text))
    if is_script and (text is None or has_hole(text)):
        call.judge.tell("runs code in the browser that cannot be seen")
    elif has_script and text and browser_code(text):
        call.judge.tell("runs code in the browser that may act for you")


def browser_code(text: str) -> bool:
    return _RUNS_IN_BROWSER.search(text) is not None


def loads_arrays(call: Call) -> Value:
    """``np.load(path, allow_pickle=True)``, ``torch.load(path, weights_only=False)``."""
    unsafe = call.keywords.get("allow_pickle") == Known(True) or call.keywords.get(
        "weights_only"
    ) == Known(False)
    if unsafe:
        call.judge.tell(UNSEEN)
    return UNKNOWN


def loads_yaml(call: Call) -> Value:
    loader = call.argument(1, "Loader")
    safe = loader is None or (isinstance(loader, Named) and "Safe" in loader.name)
    if not safe and isinstance(loader, Named) and "Base" not in loader.name:
        call.judge.tell(UNSEEN)
    return UNKNOWN


def runs_path(call: Call) -> Value:
    """``runpy.run_path(path)`` is like ``python path``; what is not named, nobody has seen."""
    if not isinstance(constant(call.argument(0)), str):
        call.judge.tell(UNSEEN)
    return UNKNOWN


def ends_process(call: Call) -> Value:
    if call.judge.in_kernel:
        call.judge.tell(ENDS_KERNEL)
    return UNKNOWN


def made_text(call: Call) -> Value:
    """``str(x)`` of what is not known."""
    given = call.argument(0)
    text = None if given is None else target_text(given)
    return Known(text) if text is not None else Unknown("text")


def timed(call: Call) -> Value:
    """``timeit.timeit("code", setup="code")``."""
    for value in (call.argument(0, "stmt"), call.argument(1, "setup")):
        if isinstance(value, Known) and isinstance(value.value, str):
            call.judge.python(value.value)
        elif isinstance(value, Defined | Named | Method):
            call.judge.call(value, [])
    return UNKNOWN


def called(judge_call: Call, getter_value: Made) -> Value:
    """Call what ``attrgetter``, ``methodcaller`` or ``partial`` made."""
    judge, args = judge_call.judge, judge_call.args
    made = list(getter_value.args)
    if getter_value.kind == "functools.partial" and made:
        return judge.call(made[0], [*made[1:], *args], judge_call.keywords)
    names = [constant(each) for each in made[:1]]
    if not args or not made or not isinstance(names[0], str):
        return HIDDEN_CALLABLE if made and not isinstance(names[0], str) else UNKNOWN
    found = reduce(judge.attribute, names[0].split("."), args[0])
    return judge.call(found, made[1:]) if getter_value.kind.endswith("methodcaller") else found


def operated(call: Call) -> Value:
    """``operator.add("r", "m")``."""
    function = getattr(operator, call.name.rpartition(".")[2], None)
    allowed = ("add", "concat", "xor", "sub")
    if function is None or call.name.rpartition(".")[2] not in allowed:
        return UNKNOWN
    try:
        return known(function(*map(plain, call.args))) or UNKNOWN
    except (ValueError, TypeError):
        return UNKNOWN


def one_of(call: Call) -> Value:
    """``random.choice(items)``, ``next(iter(items))``."""
    return any_of(element_of(call.argument(0) or UNKNOWN))
