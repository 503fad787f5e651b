"""``python -m tests.benchmarks [SECTION ...] [--peers]``: measure, then one table.

Nothing is asserted: the figures depend on the machine and on what else runs there. The table
goes to standard output, the same figures to ``artefacts/bench.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks import (
    bench_backends,
    bench_batch,
    bench_bridge,
    bench_click,
    bench_core,
    bench_files,
    bench_interrupt,
    bench_labextension,
    bench_live,
    bench_load,
    bench_page,
    bench_peers,
    bench_safety,
    bench_server,
    bench_steps,
    bench_store,
    bench_stream,
    bench_stream_page,
    bench_tool_search,
    bench_tools,
    bench_undo,
    bench_upstream,
)
from tests.benchmarks.rows import Row, table

ARTEFACT = Path(__file__).resolve().parents[2] / "artefacts" / "bench.json"
SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "load": bench_load.rows,
    "peers": bench_peers.rows,
    "click": bench_click.rows,
    "page": bench_page.rows,
    "labextension": bench_labextension.rows,
    "batch": bench_batch.rows,
    "bridge": bench_bridge.rows,
    "interrupt": bench_interrupt.rows,
    "core": bench_core.rows,
    "tools": bench_tools.rows,
    "backends": bench_backends.rows,
    "files": bench_files.rows,
    "safety": bench_safety.rows,
    "store": bench_store.rows,
    "undo": bench_undo.rows,
    "upstream": bench_upstream.rows,
    "tool_search": bench_tool_search.rows,
    "steps": bench_steps.rows,
    "live": bench_live.rows,
    "stream": bench_stream.rows,
    "stream_page": bench_stream_page.rows,
    "server": bench_server.rows,
}
ON_REQUEST = {"peers"}
"""Sections that download something."""


def main() -> None:
    chosen = _sections()
    rows: list[Row] = []
    failed: list[str] = []
    began = time.monotonic()
    before = os.getloadavg()[0]
    for name in chosen:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            rows += SECTIONS[name]()
        except Exception as error:  # noqa: BLE001 - the figures of the others still count
            traceback.print_exc()
            failed.append(name)
            rows.append(Row(what=name, detail=f"{type(error).__name__}: {error}"[:100]))
    print(table(rows))
    print(
        f"\n{os.cpu_count()} cores, load average {before:.1f} before and {os.getloadavg()[0]:.1f} "
        f"after, Python {platform.python_version()}, {time.monotonic() - began:.0f} s.\n"
        "quoted: measured elsewhere on the same kind of machine; here: measured in this run."
    )
    missed = [row.what for row in rows if row.met is False]
    print(f"Missed: {'; '.join(missed)}" if missed else "No measured target is missed.")
    ARTEFACT.parent.mkdir(exist_ok=True)
    figures = [{**asdict(row), "met": row.met} for row in rows]
    document = {"python": platform.python_version(), "cores": os.cpu_count(), "load": before,
                "rows": figures}  # fmt: skip
    ARTEFACT.write_text(json.dumps(document, indent=1), encoding="utf-8")
    if failed:
        sys.exit(f"could not measure: {', '.join(failed)}")


def _sections() -> list[str]:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("section", nargs="*", help=f"only these: {', '.join(SECTIONS)}")
    parser.add_argument("--peers", action="store_true", help="install and measure peers as well")
    options = parser.parse_args()
    if unknown := set(options.section) - set(SECTIONS):
        parser.error(f"unknown section {', '.join(sorted(unknown))}")
    wanted = options.section or [name for name in SECTIONS if name not in ON_REQUEST]
    if options.peers and "peers" not in wanted:
        wanted.append("peers")
    return [name for name in SECTIONS if name in wanted]


if __name__ == "__main__":
    main()
