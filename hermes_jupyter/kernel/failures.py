"""A cell that failed: where in the user's code, with which values, under which versions."""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from types import FrameType, TracebackType
from typing import Any

from hermes_jupyter.errors import TurnError
from hermes_jupyter.kernel.ran_cells import RanCell, RanCells
from tools.plain_text import without_escapes
from tools.secrets.variables import is_secret_name
from tools.values.describe import details_of
from tools.values.frames import is_table
from tools.values.plain import HIDDEN, told

MAX_FRAMES = 12
MAX_NAMES = 25
MAX_VERSIONS = 15
VALUE_CHARS = 300
TABLE_CHARS = 800
OF_IPYTHON = ("IPython/core/", "ipykernel/")
INSTALLED = ("site-packages", "dist-packages", "/lib/python3")
_ASKS_THE_AGENT = re.compile(r"\s*(%%(hermes_)?agent|%hermes(_control)?)(?!\S)")
"""The newest failure is one of the user's code: such a cell is only meant where it is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is known of a failed cell."""

    cell: RanCell
    trace: str
    """The exceptions, the first cause first, and the calls that led to them."""
    values: Mapping[str, str]
    """Of the names that the failing code uses, in short."""
    versions: Mapping[str, str]


class NoFailure(TurnError):
    """There is no such cell."""


class NotRun(NoFailure):
    """This kernel knows nothing of it."""


def failure_of(ran: RanCells, number: int = 0, *, cell: str = "") -> Failure:
    """The newest failure, or that of the cell with this number, or with this id.

    Raises
    ------
    NoFailure
    """
    found = _failed(ran.all(), number, cell)
    error = getattr(sys, "last_value", None)
    if isinstance(error, BaseException) and found.error.startswith(type(error).__name__):
        frames = [frame for frame, _ in traceback.walk_tb(_innermost(error))]
        trace = _trace(error)
    else:  # another cell has failed since: what it has shown is left
        frames, trace = [], _shown(ran.outputs(found)) or found.error
    namespace = ran.namespace
    own = next((frame for frame in reversed(frames) if _is_users(frame)), None)
    values = {**namespace, **(own.f_locals if own is not None else {})}
    names = [*_names(found.source), *(own.f_code.co_varnames if own is not None else ())]
    return Failure(
        cell=found,
        trace=trace,
        values=dict(_values(names, values)),
        versions=dict(_versions(frames, names, values)),
    )


def failure_shown(
    cell: str, number: int, source: str, outputs: Sequence[Mapping[str, Any]]
) -> Failure:
    """That of a cell which another kernel has run: what its notebook shows, and no values.

    Raises
    ------
    NoFailure
    """
    failed = [each for each in outputs if each.get("output_type") == "error"][-1:]
    if not failed:
        raise NoFailure("this cell has not failed when it ran last")
    error = f"{failed[0].get('ename')}: {failed[0].get('evalue')}".split("\n")[0][:500]
    ran = RanCell(
        id=cell, request="", number=number, source=source, at=0.0, error=error, outputs=outputs
    )
    versions = dict(_versions([], [], {}))
    return Failure(cell=ran, trace=_shown(failed) or error, values={}, versions=versions)


def _failed(cells: list[RanCell], number: int, name: str) -> RanCell:
    if name:
        known = [cell for cell in cells if cell.id == name]
        if not known:
            raise NotRun(
                "this cell has not run since hermes_jupyter was loaded; run it, then ask again"
            )
        if not known[-1].error:
            raise NoFailure("this cell has not failed when it ran last")
        return known[-1]
    if number:
        named = [cell for cell in cells if cell.number == number]
        if not named:
            raise NoFailure(f"no cell [{number}] has run since hermes_jupyter was loaded")
        if not named[-1].error:
            raise NoFailure(f"the cell [{number}] has not failed")
        return named[-1]
    newest = {cell.id or cell.number: cell for cell in cells}
    failed = [
        cell for cell in newest.values() if cell.error and not _ASKS_THE_AGENT.match(cell.source)
    ]
    if not failed:
        raise NoFailure("no cell has failed since hermes_jupyter was loaded; run it once more")
    return max(failed, key=lambda cell: cell.number)


def _innermost(error: BaseException) -> TracebackType | None:
    """The calls of the exception that was there first."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or cause.__traceback__ is None:
            break
        error = cause
    return error.__traceback__


def _trace(error: BaseException) -> str:
    """As Python prints it, without IPython's own calls; of long ones the last."""
    whole = traceback.TracebackException.from_exception(error)
    _shorten(whole)
    return "".join(whole.format())


def _shorten(part: traceback.TracebackException | None) -> None:
    if part is None:
        return
    calls = [call for call in part.stack if not any(of in call.filename for of in OF_IPYTHON)]
    part.stack[:] = calls[-MAX_FRAMES:]
    for call in part.stack:
        if "ipykernel_" in call.filename or call.filename.startswith("<ipython"):
            call.filename = "the notebook"
    _shorten(part.__cause__)
    _shorten(part.__context__)


def _shown(outputs: Sequence[Mapping[str, Any]]) -> str:
    """The traceback that a cell has put out."""
    for output in outputs:
        if output.get("output_type") == "error":
            return without_escapes("\n".join(output.get("traceback") or ()))
    return ""


def _is_users(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    return not any(part in name for part in (*OF_IPYTHON, *INSTALLED))


def _names(source: str) -> list[str]:
    """The names that code uses, in order; none if it cannot be read (magics, a syntax error)."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return [*dict.fromkeys(found)]


def _values(names: list[str], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = [name for name in dict.fromkeys(names) if name in values]
    for name in known[:MAX_NAMES]:
        value = values[name]
        if is_secret_name(name):
            yield name, HIDDEN
        elif is_table(value):
            yield name, str(details_of(value))[:TABLE_CHARS]
        else:
            yield name, told(value, VALUE_CHARS)


def _versions(
    frames: list[FrameType], names: list[str], values: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Of Python, and of the packages that took part."""
    yield "Python", ".".join(map(str, sys.version_info[:3]))
    modules = [str(frame.f_globals.get("__name__", "")) for frame in frames]
    modules += [str(getattr(type(values[n]), "__module__", "")) for n in names if n in values]
    modules += [values[n].__name__ for n in names if type(values.get(n)) is type(sys)]
    roots = dict.fromkeys(module.partition(".")[0] for module in modules)
    known = packages_distributions()
    for root in [root for root in roots if root in known][:MAX_VERSIONS]:
        try:
            yield known[root][0], version(known[root][0])
        except PackageNotFoundError:
            continue
