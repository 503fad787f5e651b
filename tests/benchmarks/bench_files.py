"""The file tools on a host: what one trip to it adds to a call, without the network's share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.bench_tools import CALLS, FILES, MEASURED, ROUNDS, call, fill, quietest
from tests.benchmarks.rows import Row
from tools.discovery import discover_builtin
from tools.environments.local_host import LocalHost
from tools.environments.remote import RemoteEnvironment

TARGETS = {"read_file": 3.0, "write_file": 5.0, "search_files": 15.0}


def rows() -> Iterator[Row]:
    discover_builtin()
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder))
        with RemoteEnvironment("host", LocalHost(), cwd=folder) as environment:
            for tool, of_what, _, _, arguments in MEASURED:
                if tool == "terminal":
                    continue
                first = call(tool, arguments(0), environment)
                taken = quietest(
                    [call(tool, arguments(n), environment) for n in range(start, start + CALLS)]
                    for start in range(1, CALLS * ROUNDS, CALLS)
                )
                yield Row(
                    what=f"{tool} on a host, {of_what}",
                    value=taken.median,
                    unit="ms",
                    target=TARGETS.get(tool),
                    detail=f"first {first * 1e3:.1f}, max {taken.largest:.1f} ms; {FILES} files",
                )
