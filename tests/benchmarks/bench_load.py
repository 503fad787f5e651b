"""What ``%load_ext`` costs over bare IPython: each sample is a fresh process."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import fresh
from tests.benchmarks.rows import Row

PROBE = str(Path(__file__).with_name("load_probe.py"))
SAMPLES = 9
QUOTED = "jupyter-ai-hermes-magics 0.5.2: {} (quoted)"


def rows() -> Iterator[Row]:
    samples = measure(sys.executable, "hermes_jupyter")
    (audit,) = measure(sys.executable, "hermes_jupyter", "--audit", count=1)
    cpu = [sample["cpu_ms"] for sample in samples]
    wall = statistics.median(sample["wall_ms"] for sample in samples)
    yield Row(
        what="%load_ext: CPU over bare IPython",
        value=statistics.median(cpu),
        unit="ms",
        target=25,
        detail=f"{min(cpu):.1f} to {max(cpu):.1f}, wall {wall:.1f} ms, n={len(cpu)}",
        theirs=QUOTED.format("37 ms"),
    )
    yield Row(
        what="%load_ext: modules added",
        value=statistics.median(sample["modules"] for sample in samples),
        target=60,
        theirs=QUOTED.format("77"),
    )
    yield Row(
        what="%load_ext: extra peak memory",
        value=statistics.median(sample["memory_mb"] for sample in samples),
        unit="MB",
        target=6,
        theirs=QUOTED.format("8 MB"),
    )
    for what, touched in (("files written", audit["wrote"]), ("sockets opened", audit["sockets"])):
        yield Row(
            what=f"%load_ext: {what}", value=len(touched), target=0, detail=", ".join(touched[:3])
        )
    yield Row(what="%load_ext: lines printed", value=audit["lines"], target=1)


def measure(
    python: str, extension: str, *options: str, count: int = SAMPLES
) -> list[dict[str, Any]]:
    """Load the extension in so many fresh shells.

    Raises
    ------
    RuntimeError
        If it does not load.
    """
    with tempfile.TemporaryDirectory() as home:
        samples = fresh.samples(
            count, python, PROBE, extension, *options,
            IPYTHONDIR=f"{home}/ipython", HERMES_HOME=f"{home}/hermes",
        )  # fmt: skip
    if problem := samples[0]["problem"]:
        raise RuntimeError(f"{extension} does not load: {problem}")
    return samples
