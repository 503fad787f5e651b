"""The leanest peers and hermes-agent, measured here, each in an environment of its own."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_load, fresh
from tests.benchmarks.rows import Row

CACHE = fresh.ROOT / ".cache" / "peers"
EXTENSIONS = {
    "jupyter-ai-hermes-magics==0.5.2": "jupyter_ai_hermes_magics",
    "jupyterpilot-ai==0.3.2": "jupyterpilot_ai.extension",
}
UPSTREAM = "hermes-agent==0.19.0"
UPSTREAM_PROBE = str(Path(__file__).with_name("upstream_probe.py"))


def rows() -> Iterator[Row]:
    for package, extension in EXTENSIONS.items():
        try:
            found = medians(bench_load.measure(installed(package), extension))
        except (subprocess.SubprocessError, RuntimeError) as error:
            yield Row(what=f"{package}: %load_ext", detail=str(error)[:80])
            continue
        yield Row(
            what=f"{package}: %load_ext, CPU",
            value=found["cpu_ms"],
            unit="ms",
            detail=f"{found['modules']:.0f} modules, {found['memory_mb']:.1f} MB more",
        )
    yield from upstream_rows()


def upstream_rows() -> Iterator[Row]:
    try:
        python = installed(UPSTREAM)
        with tempfile.TemporaryDirectory() as home:
            samples = fresh.samples(3, python, UPSTREAM_PROBE, HERMES_HOME=home)
    except (subprocess.SubprocessError, RuntimeError) as error:
        yield Row(what=UPSTREAM, detail=str(error)[:80])
        return
    found = medians(samples)
    for what, key, unit in (
        ("import of its tools, CPU", "cpu_ms", "ms"),
        ("import of its tools, peak memory", "memory_mb", "MB"),
        ("async tool in a running loop", "dispatch_us", "us"),
        ("loop frozen by an async tool of 200 ms", "frozen_ms", "ms"),
    ):
        yield Row(what=f"{UPSTREAM}: {what}", value=found[key], unit=unit)


def medians(samples: list[dict[str, Any]]) -> dict[str, float]:
    keys = [key for key, value in samples[0].items() if isinstance(value, int | float)]
    return {key: statistics.median(sample[key] for sample in samples) for key in keys}


def installed(package: str) -> str:
    """The interpreter of an environment with this package only."""
    folder = CACHE / package.replace("==", "-")
    python = str(folder / "bin" / "python")
    complete = folder / "complete"
    if not complete.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, package], check=True, timeout=600, capture_output=True)
        complete.touch()
    return python
