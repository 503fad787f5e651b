"""Commands and files: what a call costs in a session whose shell runs."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.rows import Row, Spread, spread
from tools.discovery import discover_builtin
from tools.environments.base import Environment
from tools.environments.local import LocalEnvironment
from tools.registry import registry

CALLS = 25
ROUNDS = 3
"""The quietest one counts: a file is synced to the disk, and so waits for what others write."""
FILES = 200
Arguments = Callable[[int], dict[str, Any]]
MEASURED: tuple[tuple[str, str, float | None, str, Arguments], ...] = (
    ("terminal", "true", None, "20 ms, first 1006 ms", lambda n: {"command": f"true # {n}"}),
    ("read_file", "100 lines", 1, "92 ms",
     lambda n: {"path": "lines.py", "offset": 1 + n, "limit": 100}),
    ("write_file", "20 lines", 2, "118 ms",
     lambda n: {"path": f"new{n}.txt", "content": "x\n" * 20}),
    ("patch", "1 of 400 lines", None, "150 ms",
     lambda n: {"path": "lines.py", "old_string": f"line {n + 300} value",
                "new_string": f"LINE {n}"}),
    ("search_files", f"{FILES} files", 10, "53 ms", lambda n: {"pattern": f"needle {n}$"}),
)  # fmt: skip


def rows() -> Iterator[Row]:
    discover_builtin()
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        environment = LocalEnvironment(cwd=folder)
        try:
            for tool, of_what, target, theirs, arguments in MEASURED:
                first = call(tool, arguments(0), environment)
                taken = quietest(
                    [call(tool, arguments(n), environment) for n in range(start, start + CALLS)]
                    for start in range(1, CALLS * ROUNDS, CALLS)
                )
                yield Row(
                    what=f"{tool}, {of_what}",
                    value=taken.median,
                    unit="ms",
                    target=target,
                    detail=f"first {first * 1e3:.1f}, max {taken.largest:.1f} ms",
                    theirs=f"hermes-agent 0.19.0: {theirs} (quoted)",
                )
        finally:
            environment.close()


def quietest(rounds: Iterable[list[float]]) -> Spread:
    return min((spread(seconds, 1e3) for seconds in rounds), key=lambda taken: taken.median)


def fill(folder: Path) -> None:
    lines = "".join(f"line {number} value\n" for number in range(400))
    (folder / "lines.py").write_text(lines, encoding="utf-8")
    for number in range(FILES):
        text = f"needle {number}\nother\n"
        (folder / f"file{number}.txt").write_text(text, encoding="utf-8")


def call(tool: str, args: dict[str, Any], environment: Environment) -> float:
    """Seconds of one call.

    Raises
    ------
    RuntimeError
        If the tool answers with an error: then there is nothing to measure.
    """
    began = time.perf_counter()
    answer = registry.dispatch(tool, args, environment=environment, written=set())
    seconds = time.perf_counter() - began
    if json.loads(answer).get("error"):
        raise RuntimeError(f"{tool} failed: {answer[:200]}")
    return seconds
