"""Does a text parse as what its file name says it is? Checked before and after a change."""

from __future__ import annotations

import ast
import json
import re
import threading
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

MAX_CHECKED_CHARS = 2_000_000
TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>", re.DOTALL)
WITH_COMMENTS = re.compile(r"^(?:[tj]sconfig.*|\.?devcontainer)\.json$")
_warnings_lock = threading.Lock()
"""For the process-wide warning filters, which `ast.parse` makes us change for a moment."""


@dataclass(frozen=True, slots=True)
class Lint:
    """Result of a check."""

    status: Literal["ok", "error", "skipped"]
    output: str = ""
    is_tolerated: bool = False
    """Code may be unfinished, and a template of a data file need not parse."""

    def as_result(self) -> dict[str, Any]:
        return {"status": self.status, **({"output": self.output} if self.output else {})}

    @property
    def forbids_writing(self) -> bool:
        """A data file that does not parse helps nobody."""
        return self.status == "error" and not self.is_tolerated


def check(path: str, text: str) -> Lint:
    """Parse a text by the suffix of its path."""
    pure = PurePath(path)
    parse = PARSERS.get(pure.suffix.lower())
    if parse is None or WITH_COMMENTS.match(pure.name) or ".vscode" in pure.parts:
        return Lint("skipped")
    if len(text) > MAX_CHECKED_CHARS and parse is _parse_yaml:
        return Lint("skipped", "too large to check")
    try:
        parse(text)
    except (RecursionError, MemoryError):
        output = "nested too deeply"
    except SyntaxError as error:
        output = f"line {error.lineno}: {error.msg}"
    except ValueError as error:
        output = str(error)
    else:
        return Lint("ok")
    return Lint("error", output, parse is _parse_python or TEMPLATE.search(text) is not None)


def _parse_notebook(text: str) -> None:
    notebook = json.loads(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("a notebook is a JSON object with a list of cells")
    if not isinstance(notebook.get("nbformat"), int):
        raise ValueError("a notebook needs nbformat, for example 4")


def _parse_yaml(text: str) -> None:
    import yaml  # only on demand: it takes longer to import than most calls take

    try:
        for _ in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _parse_python(text: str) -> None:
    # An odd escape in somebody's string must not be printed into the cell of the user.
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ast.parse(text)


PARSERS: dict[str, Callable[[str], object]] = {
    ".json": json.loads,
    ".ipynb": _parse_notebook,
    ".toml": tomllib.loads,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".py": _parse_python,
}
