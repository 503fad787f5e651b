"""The text of a cell as steps that can be run: magics, ``!`` and top-level ``await`` included.

IPython translates and compiles it. What it does around a cell (history, ``Out``, counting, hooks)
is left out.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType, TracebackType
from typing import Any

MESSAGE_CHARS = 500
LINE_CHARS = 200
TRACEBACK_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Step:
    """A statement, or an expression whose value is shown."""

    code: CodeType
    shows: bool

    @property
    def is_async(self) -> bool:
        return bool(self.code.co_flags & inspect.CO_COROUTINE)


@dataclass(frozen=True, slots=True)
class Program:
    """Code that can be run."""

    file: str
    """What stands for its file in tracebacks."""
    steps: tuple[Step, ...]

    @property
    def is_async(self) -> bool:
        return any(step.is_async for step in self.steps)


def compiled(source: str, shell: Any) -> Program:
    """Translate a cell.

    Raises
    ------
    Exception
        For what is no Python; usually a SyntaxError.
    """
    text = shell.transform_cell(source)
    file = shell.compile.cache(text, shell.execution_count, raw_code=source)
    tree = shell.transform_ast(_parsed(text, file, shell))
    is_quiet = shell.displayhook.semicolon_at_end_of_expression(text)
    shown = [] if is_quiet else _shown(tree.body, shell.ast_node_interactivity)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if shell.autoawait else 0
    with shell.compile.extra_flags(flags):
        steps = tuple(_step(node, node in shown, file, shell.compile) for node in tree.body)
    return Program(file, steps)


def _parsed(text: str, file: str, shell: Any) -> Any:
    try:
        return shell.compile.ast_parse(text, filename=file)
    except SyntaxError:
        ast.parse(text, filename=file)  # says it better: IPython's compiler hopes for more lines
        raise


def is_code(source: str, shell: Any) -> bool:
    """Can it be translated? Nothing runs."""
    try:
        compile(shell.transform_cell(source), "<looked at>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, OverflowError):
        return False
    return True


def _step(node: ast.stmt, shows: bool, file: str, compiler: Any) -> Step:
    if shows and isinstance(node, ast.Expr):
        return Step(compiler(ast.Expression(node.value), file, "eval"), True)
    return Step(compiler(ast.Module([node], []), file, "exec"), False)


def _shown(body: Sequence[ast.stmt], interactivity: str) -> list[ast.stmt]:
    """The expressions whose values a cell would show."""
    if interactivity == "none":
        return []
    found = list(body) if interactivity == "all" else list(body[-1:])
    return [node for node in found if isinstance(node, ast.Expr)]


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in code: short for a model, and all of it for the person."""

    error: str
    line: str
    traceback: str


def failure_of(error: BaseException, file: str) -> Failure:
    """How an error of the code in ``file`` is told."""
    mine = _within(error.__traceback__, file)
    if isinstance(error, SyntaxError) and mine is None:  # it is about the code itself
        return _of_syntax(error)
    told = traceback.TracebackException(type(error), error, mine, compact=True)
    full = "".join(told.format())
    return Failure(_message(error), _line(mine, file), _cut(full, TRACEBACK_CHARS))


def _of_syntax(error: BaseException) -> Failure:
    number, text = getattr(error, "lineno", None), getattr(error, "text", None)
    line = f"{number}: {(text or '').strip()}"[:LINE_CHARS] if number else ""
    full = "".join(traceback.format_exception_only(type(error), error))
    return Failure(_message(error), line, full)


def _message(error: BaseException) -> str:
    said = traceback.format_exception_only(type(error), error)
    text = said[-1].strip() if not isinstance(error, SyntaxError) else f"SyntaxError: {error.msg}"
    return _cut(text, MESSAGE_CHARS)


def _within(start: TracebackType | None, file: str) -> TracebackType | None:
    """The traceback from the first frame of the code on."""
    while start is not None and start.tb_frame.f_code.co_filename != file:
        start = start.tb_next
    return start


def _line(mine: TracebackType | None, file: str) -> str:
    """The last line of the code that the error came through."""
    number = 0
    while mine is not None:
        if mine.tb_frame.f_code.co_filename == file:
            number = mine.tb_lineno
        mine = mine.tb_next
    if not number:
        return ""
    return f"{number}: {linecache.getline(file, number).strip()}"[:LINE_CHARS]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
