"""Models of ``get_ipython()``: shell lines, magics, cells inside cells."""

from __future__ import annotations

import itertools
import re

from tools.safety.code_signs import sign_in
from tools.safety.python_code import magics
from tools.safety.python_code.call import Call, Judge
from tools.safety.python_code.code_models import SECRET_NAME, browser_code
from tools.safety.python_code.files import written
from tools.safety.python_code.parsing import is_parsable
from tools.safety.python_code.processes import UNKNOWN_COMMAND
from tools.safety.python_code.sql import change_in
from tools.safety.python_code.values import (
    UNKNOWN,
    FilePath,
    Known,
    Value,
    alternatives,
    as_text,
    has_hole,
    hole,
    in_shell,
    shown,
)
from tools.safety.variables import LOADERS

MOST_EXPANSIONS = 8
ELSEWHERE = ("/dev/", "$", "http:", "https:")
UNKNOWN_MAGIC = "runs a magic that is not known before it runs"
_FIELD = re.compile(
    r"\{\{|\}\}|\{(?P<code>[^{}]*)\}|\$\$|\$(?P<name>[A-Za-z_]\w*)(?P<rest>(?:\.\w+)*)"
)
_SCRIPT = re.compile(r"<script|\bon\w+\s*=|javascript:|<iframe|<form", re.IGNORECASE)
_OPTION = re.compile(r"\s*(?P<option>-{1,2}[A-Za-z]\w*)(?:\s+|$)")
_CAPTURES = re.compile(r"\s*(?:--bg|--no-raise-error|--\w+[= ]\S+|--\w+)\s*")


def shell_line(call: Call) -> Value:
    text = call.text(1, "cmd")
    if text is None or re.fullmatch("\ue000\\w*\ue001", text):
        call.judge.tell(UNKNOWN_COMMAND)
    else:
        run_shell(text, call.judge)
    return UNKNOWN


def run_shell(text: str, judge: Judge) -> None:
    """Of a ``!`` line, in which IPython puts values for ``$name`` and ``{code}``."""
    for expanded in expansions(text, judge):
        if re.match("\\s*\ue000", expanded):
            judge.tell(UNKNOWN_COMMAND)
        judge.shell(in_shell(expanded))


def expand(text: str, judge: Judge) -> str:
    """The first of the `expansions`."""
    return expansions(text, judge)[0]


def expansions(text: str, judge: Judge) -> list[str]:
    """The text with each of the values that are known; with holes for the others."""
    if "{" not in text and "$" not in text:
        return [text]
    found = list(_FIELD.finditer(text))
    codes = [each.group("code") for each in found]
    if any(code is not None and not _is_expression(code) for code in codes):
        return [text]  # so does IPython: nothing is put in if one field is no Python
    parts, end = [], 0
    for each in found:
        parts += [[text[end : each.start()]], _values_of(each, judge)]
        end = each.end()
    every = itertools.product(*parts, [text[end:]])
    return ["".join(chosen) for chosen in itertools.islice(every, MOST_EXPANSIONS)]


def _values_of(field: re.Match[str], judge: Judge) -> list[str]:
    if field.group("code") is not None:
        value = judge.python(_plain_field(field.group("code")))
        return [as_text(each) or hole() for each in alternatives(value)]
    if not field.group("name"):
        return ["$" if field.group() == "$$" else field.group()[0]]
    value = judge.lookup(field.group("name"))
    known = [each for each in alternatives(value) if isinstance(each, Known | FilePath)]
    if field.group("rest") or not known:
        return [field.group()]
    return [as_text(each) or field.group() for each in known]


def _plain_field(code: str) -> str:
    return re.sub(r"![rsa]$|:[^\[\]()'\"]*$", "", code)


def _is_expression(code: str) -> bool:
    plain = _plain_field(code).strip()
    return bool(plain) and is_parsable(f"({plain})")


def line_magic(call: Call) -> Value:
    name, line = call.text(1, "magic_name"), call.text(2, "line") or ""
    if name is None or has_hole(name):
        call.judge.tell(UNKNOWN_MAGIC)
    else:
        run_line(name, line, call.judge)
    return UNKNOWN


def any_magic(call: Call) -> Value:
    """``get_ipython().magic("cd x")``."""
    text = call.text(1, "arg_s")
    if text is None or has_hole(text[:1]):
        call.judge.tell(UNKNOWN_MAGIC)
    else:
        name, _, line = text.lstrip("%").partition(" ")
        run_line(name, line.strip(), call.judge)
    return UNKNOWN


def cell_magic(call: Call) -> Value:
    name, line, body = call.text(1, "magic_name"), call.text(2, "line"), call.text(3, "cell")
    if name is None or has_hole(name) or body is None or has_hole(body):
        call.judge.tell(UNKNOWN_MAGIC)
    else:
        run_cell(name, line or "", body, call.judge)
    return UNKNOWN


def cell(call: Call) -> Value:
    text = call.text(1, "raw_cell", "cmd", "expr", "code_obj")
    if text is None or has_hole(text):
        call.judge.tell("runs code that cannot be seen")
    else:
        call.judge.cell(text)
    return UNKNOWN


def run_line(name: str, line: str, judge: Judge) -> None:
    """Of ``%name line``."""
    if name in magics.SHELL_LINES:
        text = line.partition("=")[2] if name == "sc" else line
        run_shell(text, judge)
    elif name in magics.SHELL_ALIASES:
        run_shell(f"{magics.SHELL_ALIASES[name]} {line}", judge)
    elif name in magics.ASKS:
        if not (name == "save" and "-a" in line.split()):
            judge.tell(magics.ASKS[name])
    elif name in magics.CODE_LINES:
        judge.cell(without_options(expand(line, judge)))
    elif name in ("cd", "pushd"):
        _change_folder(line, judge)
    elif name in LINES:
        LINES[name](line, judge)
    elif name in magics.SQL:
        _sql(line, judge)
    elif name in magics.HARMLESS:
        expand(line, judge)
        _history(name, line, judge)
    else:
        judge.tell(f"runs the magic %{shown(name)}, which is not known here")


def _history(name: str, line: str, judge: Judge) -> None:
    options = line.split()
    if name in ("history", "hist") and {"-g", "-ng", "-gn", "-og"} & set(options):
        judge.tell("shows what was typed in other sessions")
    if name in ("history", "hist") and "-f" in options[:-1]:
        written_file(options[options.index("-f") + 1], judge)
    if name == "bookmark" and {"-r", "-d"} & set(options):
        judge.tell("deletes bookmarks")


def without_options(line: str) -> str:
    """The statement behind ``-n 3 -r 5``."""
    while found := _OPTION.match(line):
        line = line[found.end() :]
        if found.group("option") in magics.OPTIONS_WITH_VALUE and not line.startswith("-"):
            line = line.partition(" ")[2]
    return line


def _change_folder(line: str, judge: Judge) -> None:
    target = expand(line.strip().strip("'\""), judge)
    if not target:
        target = "~"
    if not has_hole(target) and not target.startswith("-"):
        judge.scene.cwd = judge.scene.path(target)


def _environment(line: str, judge: Judge) -> None:
    name, sign, value = re.match(r"\s*([^\s=]*)\s*(=?)(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
    if not name:
        judge.tell("shows the whole environment, which may hold secrets")
    elif not sign and not value.strip() and _holds_secret(name):
        judge.tell(f"shows {name}, which holds a secret")
    elif (sign or value.strip()) and name in LOADERS:
        judge.tell(f"sets {name}, which may run other code")
    else:
        expand(value, judge)


def _holds_secret(name: str) -> bool:
    return SECRET_NAME.search(name) is not None


def _store(line: str, judge: Judge) -> None:
    if {"-z", "-d"} & set(line.split()):
        judge.tell("deletes stored variables")
    elif found := re.search(r">(>?)\s*(\S+)", line):
        written_file(found.group(2), judge, keeps=bool(found.group(1)))


def _run(line: str, judge: Judge) -> None:
    """A file of the project, like ``python FILE``."""
    words = [word for word in expand(line, judge).split() if not word.startswith("-")]
    if words and (has_hole(words[0]) or words[0].startswith(ELSEWHERE)):
        judge.tell("runs a file that is not known before it runs")


def _alias(line: str, judge: Judge) -> None:
    """Its text runs at another time."""
    text = line.partition(" ")[2]
    if text:
        judge.shell(text.replace("%s", "unknown").replace("%l", "unknown"))


def _alias_magic(line: str, judge: Judge) -> None:
    words = [word.lstrip("%") for word in line.split() if not word.startswith("-")]
    if len(words) > 1 and (
        words[1] in magics.ASKS or words[1] in magics.SHELL_LINES | {"rm", "mv"}
    ):
        judge.tell(f"gives another name to the magic %{words[1]}")


def _config(line: str, judge: Judge) -> None:
    """Its value is evaluated as Python."""
    if "=" in line:
        judge.python(line.partition("=")[2].strip())
        if line.startswith(("Hermes", "Agent")):
            judge.tell("changes the settings of the agent")


def _program(line: str, judge: Judge) -> None:
    run_shell(line, judge)


LINES = {
    "env": _environment,
    "set_env": _environment,
    "store": _store,
    "run": _run,
    "alias": _alias,
    "alias_magic": _alias_magic,
    "config": _config,
    **dict.fromkeys(("bash", "sh", "script"), _program),
}


def run_cell(name: str, line: str, body: str, judge: Judge) -> None:
    """Of ``%%name line`` with a body."""
    if name in magics.CODE_CELLS:
        if name in ("timeit", "prun", "debug"):
            judge.cell(without_options(line))
        judge.cell(body)
    elif name in magics.PROGRAM_CELLS:
        _program_cell(name, expand(line, judge), body, judge)
    elif name in magics.PYTHON_CELLS:
        judge.script(body)
    elif name in ("writefile", "file"):
        words = expand(line, judge).split()
        path = next((word for word in words if not word.startswith("-")), hole())
        keeps = bool({"-a", "--append"} & set(words))
        written_file(path.strip("'\""), judge, keeps=keeps)
    elif name in magics.SQL:
        _sql(f"{line}\n{body}" if change_in(line) else body, judge)
    elif name in magics.TEXT_CELLS | magics.BROWSER_CELLS:
        _browser_cell(name, body, judge)
    elif name in magics.ASKS:
        judge.tell(magics.ASKS[name])
    elif not body.strip():
        run_line(name, line, judge)
    else:
        found = sign_in(body, "other")
        judge.tell(
            f"runs code with {found!r}"
            if found
            else f"runs the magic %%{shown(name)}, which is not known here"
        )


def _program_cell(name: str, line: str, body: str, judge: Judge) -> None:
    """The body is the standard input of a program, as from a here-document."""
    rest = line
    while found := _CAPTURES.match(rest):
        rest = rest[found.end() :]
    program = rest.strip() if name == "script" else f"{name} {rest}".strip()
    if re.match(r"(?:[\w/.-]*/)?(?:python|pypy)[\d.]*(?:\s+-\w+)*$", program):
        judge.script(body)
        return
    program = re.sub(r"((?:ba|z|k)?sh)\s+-s\b.*", r"\1", program)  # its arguments
    if name in ("system", "sx", "!", "bash", "sh") and not rest.strip():
        for text in [line if name in ("system", "sx", "!") else "", body]:
            judge.shell(text)
        return
    mark = "END_OF_CELL"
    while mark in body:
        mark += "_"
    if has_hole(program):
        judge.tell(UNKNOWN_COMMAND)
    judge.shell(f"{in_shell(program or 'sh')} <<'{mark}'\n{body}\n{mark}\n")


def _browser_cell(name: str, body: str, judge: Judge) -> None:
    is_script = name in ("javascript", "js") or _SCRIPT.search(body)
    if is_script and browser_code(body):
        judge.tell("runs code in the browser that may act for you")


def _sql(text: str, judge: Judge) -> None:
    if change := change_in(expand(text, judge)):
        judge.tell(f"changes databases: {change}")


def written_file(path: str, judge: Judge, *, keeps: bool = False) -> None:
    written(path, Call("writefile", [], {}, judge), keeps=keeps)
