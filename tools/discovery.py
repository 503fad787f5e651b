"""Finding the files that register tools: a new tool is a new file, and no list names it.

A file counts when a statement at its module level calls ``registry.register(...)``, also inside
an ``if``, ``for``, ``while``, ``with`` or ``try``. That is read from the syntax tree, and only such
files are imported. What goes wrong with one file is reported, and is no harm to the others.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import logging
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tools.registry import registry

logger = logging.getLogger(__name__)

_SKIPPED = {"__init__.py", "registry.py"}
_BLOCKS = (
    *(ast.If, ast.For, ast.While, ast.With, ast.Try, ast.TryStar),
    *(ast.ExceptHandler, ast.Match, ast.match_case),
)
_MENTION = re.compile(rb"\bregistry\s*\.\s*register\b")
_OWN_STATEMENT = re.compile(rb"^registry\.register\(", re.MULTILINE)
"""In a file of an importable package a line like this is enough: the import parses it anyway."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """A file that registers tools, or would if it worked."""

    path: Path
    module: str
    ok: bool
    reason: str = ""
    """What went wrong: the exception, and the line of the file where it came from."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What a file outside of any package was when it was last loaded, and what it registered."""

    module: str
    digest: str
    handlers: Mapping[str, Callable[..., Any]]


_loaded: dict[Path, _Loaded] = {}
_lock = threading.RLock()  # guards _loaded, and lets one thread import tools at a time


def discover_builtin() -> list[Discovered]:
    """Import the tools that come with this package."""
    return discover(Path(__file__).parent, package="tools")


def discover(folder: Path, package: str | None = None) -> list[Discovered]:
    """Import every file of ``folder`` that registers tools.

    Parameters
    ----------
    folder
        Searched without its subfolders. One that does not exist has no tools.
    package
        The importable package that the folder is, or None: then files are loaded by their
        path. ``sys.path`` stays as it is. Calling this again loads the files that changed, and
        forgets the tools of those that are gone.
    """
    folder = folder.expanduser().resolve()
    with _lock:
        if package is None:
            _forget_deleted(folder)
        paths = sorted(path for path in folder.glob("*.py") if _is_candidate(path))
        found = (_discover_file(path, package) for path in paths)
        return [discovered for discovered in found if discovered]


def _is_candidate(path: Path) -> bool:
    return path.name not in _SKIPPED and not path.name.startswith(".")


def _discover_file(path: Path, package: str | None) -> Discovered | None:
    """Load one file; None when it registers nothing."""
    module = f"{package}.{path.stem}" if package else _module_name(path)
    try:
        source = path.read_bytes()
        if package and _OWN_STATEMENT.search(source):
            return _imported(path, module)
        tree = ast.parse(source if _MENTION.search(source) else b"", filename=str(path))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Discovered(path, module, ok=False, reason=_reason(error, path))
    if not registers_tools(tree):
        _forget(path)
        return None
    if package:
        return _imported(path, module)
    load = partial(_load, path, module, tree, hashlib.sha256(source).hexdigest())
    reason = _attempt(path, load)
    return Discovered(path, module, ok=not reason, reason=reason)


def _imported(path: Path, module: str) -> Discovered:
    reason = _attempt(path, lambda: importlib.import_module(module))
    return Discovered(path, module, ok=not reason, reason=reason)


def registers_tools(tree: ast.Module) -> bool:
    """Whether running the module's own statements may call ``registry.register(...)``."""
    return any(_is_registration(statement) for statement in _statements(tree))


def _statements(block: ast.AST) -> Iterator[ast.stmt]:
    """All statements that run when the block runs, but not those of functions and classes."""
    for child in ast.iter_child_nodes(block):
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, _BLOCKS):
            yield from _statements(child)


def _is_registration(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="register", value=owner))):
            name = getattr(owner, "id", None) or getattr(owner, "attr", None)
            return name == "registry"
    return False


def _attempt(path: Path, load: Callable[[], object]) -> str:
    """Load a file; its error in words, or nothing. One that fails leaves all tools as they were."""
    before = registry.saved()
    try:
        load()
    except KeyboardInterrupt:
        registry.restore(before)
        raise
    except BaseException as error:  # a stranger's file may raise anything, sys.exit() included
        logger.info("could not import tool file %s", path, exc_info=True)
        registry.restore(before)
        return _reason(error, path)
    return ""


def _load(path: Path, module: str, tree: ast.Module, digest: str) -> None:
    """Run a file that belongs to no package, unless it is loaded already as it is now."""
    there = _loaded.get(path)
    if there and there.digest == digest:
        return
    _deregister(there)
    others = {entry.name: entry for entry in registry.entries()}
    _execute(path, module, tree)
    own = (entry for entry in registry.entries() if others.get(entry.name) is not entry)
    _loaded[path] = _Loaded(module, digest, {entry.name: entry.handler for entry in own})


def _execute(path: Path, name: str, tree: ast.Module) -> None:
    # Not through the loader: its cache takes two versions of one size within a second for one.
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    previous = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(compile(tree, str(path), "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        del sys.modules[name]
        if previous is not None:
            sys.modules[name] = previous
        raise


def _forget_deleted(folder: Path) -> None:
    for path in [path for path in _loaded if path.parent == folder and not path.exists()]:
        _forget(path)


def _forget(path: Path) -> None:
    there = _loaded.pop(path, None)
    if there:
        _deregister(there)
        sys.modules.pop(there.module, None)


def _deregister(loaded: _Loaded | None) -> None:
    overrides = {override.tool.name: override for override in registry.overrides}
    for name, handler in loaded.handlers.items() if loaded else ():
        entry = registry.get_entry(name)
        if not entry or entry.handler is not handler:  # another file's tool by now
            continue
        if name in overrides:
            registry.give_back(overrides[name])
        else:
            registry.deregister(name)


def _module_name(path: Path) -> str:
    return f"hermes_tools_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"


def _reason(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}".rstrip(": ") + where
