"""A notebook cell as Python: what IPython adds to the language, as calls of ``get_ipython()``.

It follows IPython's own translation without importing it: ``!`` ``!!`` ``%`` ``%%`` ``?`` ``,``
``;`` and ``/`` count at the beginning of a statement, ``!`` and ``%`` behind ``=`` as well.
"""

from __future__ import annotations

import re

from tools.safety.python_code.parsing import is_parsable

_PROMPT = re.compile(r"\s*(?:>>> ?|In \[\d*\]: ?)")
_PROMPT_LINE = re.compile(r"^\s*(?:(?:>>>|\.\.\.|In \[\d*\]:) ?| {3,}\.\.\.: ?)", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%(?P<name>[^\s]+)(?P<line>[^\n]*)(?:\n(?P<body>.*))?\Z", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<text>'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\""""
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?P<open>'''|\"\"\")|(?P<comment>\#[^\n]*)"""
    r"""|(?P<left>[(\[{])|(?P<right>[)\]}])|(?P<join>\\\n)|(?P<line>\n)""",
    re.DOTALL | re.VERBOSE,
)
_ASSIGNED = re.compile(
    r"(?P<to>\s*(?:[\w.,\s*:()]|\[[^\]\n]*\])+?=)\s*(?P<sign>[!%])(?![=%])(?P<rest>.*)", re.DOTALL
)
_HELP = re.compile(r"(?:%{0,2}(?!\d)[\w*]+(?:\.[\w*]+|\[[^\]\n]*\])*)\?{1,2}$")
_ESCAPE = re.compile(r"(?P<indent>\s*)(?P<sign>!!|%%|\?\??|[!%,;/])(?P<rest>.*)", re.DOTALL)
_SPECIAL = re.compile(r"^\s*(?:[!%?,;/]|>>>|In \[)|\?\s*(?:#.*)?$|=\s*[!%]", re.MULTILINE)


def has_syntax_of_its_own(text: str) -> bool:
    """Could the text be anything but plain Python?"""
    return _SPECIAL.search(text) is not None


def is_python(text: str) -> bool:
    """Is all of it plain Python? Then IPython leaves it as it is."""
    if not has_syntax_of_its_own(text):
        return text[:1] not in " \t\r\n"
    return is_parsable(text)


def as_python(text: str) -> str:
    """The cell in plain Python. What is neither language comes back as it is."""
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text.replace("\r\n", "\n"))
    if _PROMPT.match(text):
        text = _PROMPT_LINE.sub("", text)
    if magic := _CELL_MAGIC.match(text):
        name, line, body = magic.group("name", "line", "body")
        if name.endswith("?") and not (body or "").strip():
            return f"get_ipython().run_line_magic('pinfo', {name.rstrip('?')!r})\n"
        return f"get_ipython().run_cell_magic({name!r}, {line.strip()!r}, {body or ''!r})\n"
    text = _without_indent(text)
    if not has_syntax_of_its_own(text):
        return text
    return "".join(map(_translated, _statements(text)))


def _without_indent(text: str) -> str:
    """IPython takes away the indentation that the first line has."""
    indent = re.match(r"[ \t]+", text)
    if not indent:
        return text
    return re.sub(rf"^{re.escape(indent.group())}", "", text, flags=re.MULTILINE)


def _statements(text: str) -> list[str]:
    """Pieces that each begin where a statement may begin; together they are the text."""
    pieces, start, place, depth = [], 0, 0, 0
    while place < len(text):
        if place == start and _begins_escape(text[start : _line_end(text, start)]):
            place = _end_of_escape(text, start)
            pieces.append(text[start:place])
            start = place
            continue
        token = _TOKEN.search(text, place)
        if token is None or token.lastgroup == "open":  # a text that is never closed
            break
        place = token.end()
        if token.lastgroup in ("left", "right"):
            depth = max(0, depth + (1 if token.lastgroup == "left" else -1))
        elif token.lastgroup == "line" and depth == 0:
            pieces.append(text[start:place])
            start = place
    return [*pieces, text[start:]]


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _begins_escape(line: str) -> bool:
    return line.lstrip()[:1] in tuple("!%?,;/") or _ASSIGNED.match(line) is not None


def _end_of_escape(text: str, place: int) -> int:
    """Lines that end in a backslash go on."""
    while True:
        end = _line_end(text, place)
        if end >= len(text):
            return len(text)
        if text[end - 1] != "\\":
            return end + 1
        place = end + 1


def _translated(statement: str) -> str:
    line = statement.replace("\\\n", " ")
    escape = _ESCAPE.match(line.rstrip("\n"))
    if escape:
        indent, sign, rest = escape.group("indent", "sign", "rest")
        return f"{indent}{_escaped(sign, rest)}\n"
    if assigned := _ASSIGNED.match(line.rstrip("\n")):
        to, sign, rest = assigned.group("to", "sign", "rest")
        called = _magic(rest) if sign == "%" else f"get_ipython().getoutput({rest.strip()!r})"
        return f"{to} {called}\n"
    bare = re.sub(r"\s*#[^'\"\n]*$", "", line.strip())
    if found := _HELP.search(bare):
        indent = line[: len(line) - len(line.lstrip())]
        return f"{indent}get_ipython().run_line_magic('pinfo', {found.group().strip('?%')!r})\n"
    return statement


def _escaped(sign: str, rest: str) -> str:
    rest = rest.strip()
    match sign:
        case "!":
            return f"get_ipython().system({rest!r})"
        case "!!":
            return f"get_ipython().getoutput({rest!r})"
        case "%" | "%%":
            if rest.endswith("?"):
                return f"get_ipython().run_line_magic('pinfo', {rest.rstrip('?')!r})"
            return _magic(rest)
        case "?" | "??":
            return f"get_ipython().run_line_magic('pinfo', {rest!r})"
    function, _, arguments = rest.partition(" ")
    if sign == "/":
        return f"{function}({arguments})"
    given = [arguments] if sign == ";" else arguments.split()
    return f"{function}({', '.join(map(repr, given))})"


def _magic(text: str) -> str:
    name, _, line = text.strip().partition(" ")
    return f"get_ipython().run_line_magic({name!r}, {line.strip()!r})"
