"""The tool core beside hermes-agent's, both measured in this run by the same script.

The script is not ours: it lies beside the project, or where ``BENCH_HERMES`` says. Without it,
there is nothing to compare.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import fresh
from tests.benchmarks.bench_peers import UPSTREAM, installed
from tests.benchmarks.rows import Row, number

SCRIPT = Path(
    os.environ.get("BENCH_HERMES", fresh.ROOT.parent / "shared" / "bench" / "bench_hermes.py")
)
OURS = (
    *("--cwd", str(fresh.ROOT), "--model-tools", "hermes_jupyter.model_tools"),
    *("--parallel", "tests.benchmarks.parallel_adapter:run_parallel"),
)
MEASURED: tuple[tuple[str, str, str, float | None], ...] = (
    ("import of the tool core, CPU", "import.import_cpu_ms", "ms", 150),
    ("import of the tool core, peak memory", "import.peak_rss_mb", "MB", 45),
    ("definitions, cold", "defs.cold_ms", "ms", 20),
    ("definitions, kept", "defs.warm_cached.p50_us", "us", 5),
    ("definitions, after a change", "defs.recompute_after_registry_change.p50_us", "us", None),
    ("a whole call, sync tool", "dispatch.main_hfc_sync.p50_us", "us", 15),
    ("a whole call, async tool, blocking", "dispatch.main_hfc_async.p50_us", "us", None),
    ("the same in a running loop, blocking it", "dispatch.loop_hfc_async.p50_us", "us", None),
    ("8 sync tools of 100 ms", "parallel.eight_100ms_sync_tools_ms", "ms", 110),
    ("8 async tools of 100 ms", "parallel.eight_100ms_async_tools_ms", "ms", 110),
    ("16 async tools of 100 ms", "parallel.sixteen_100ms_async_tools_ms", "ms", 110),
    ("8 tools that do nothing", "parallel.eight_noop_tools_ms", "ms", None),
    ("descriptors left by async batches", "parallel.fd_growth", "", 0),
    ("read_file, 100 lines", "tools.read_file_100_lines.p50_ms", "ms", 1),
    ("write_file", "tools.write_file_small.p50_ms", "ms", 2),
    ("patch", "tools.patch_replace.p50_ms", "ms", None),
    ("search_files, 200 files", "tools.search_files_200_files.p50_ms", "ms", 10),
    ("terminal, no session", "tools.terminal_true.p50_ms", "ms", None),
)


def rows() -> Iterator[Row]:
    if not SCRIPT.is_file():
        yield Row(what=f"{UPSTREAM} beside us", detail=f"no {SCRIPT.name} beside the project")
        return
    try:
        theirs = figures(installed(UPSTREAM))
    except (subprocess.SubprocessError, RuntimeError) as error:
        yield Row(what=f"{UPSTREAM} beside us", detail=str(error)[:80])
        return
    ours = figures(sys.executable, *OURS)
    for what, key, unit, target in MEASURED:
        value, other = found(ours, key), found(theirs, key)
        told = "not measured" if other is None else f"{number(other)} {unit} (here)".strip()
        ratio = f", ours / theirs {value / other:.2f}" if value is not None and other else ""
        yield Row(
            what=what,
            value=value,
            unit=unit,
            target=target,
            theirs=f"{UPSTREAM}: {told}{ratio}",
        )


def figures(python: str, *options: str) -> dict[str, Any]:
    """What the script finds of the tools that this interpreter can import."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "found.json")
        command = [sys.executable, str(SCRIPT), "--python", python, "--out", str(out), *options]
        subprocess.run(command, check=True, timeout=900, capture_output=True, cwd=folder)
        results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))["results"]
    return results


def found(results: dict[str, Any], key: str) -> float | None:
    """A figure by its path. The name of the last part may go on: it says how often."""
    part: Any = results
    for name in key.split("."):
        names = [each for each in part if each == name or each.startswith(f"{name}_after")]
        if not names:
            return None
        part = part[names[0]]
    return float(part)
