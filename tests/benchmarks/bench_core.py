"""What it costs to have the tools at all: their import and their definitions."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator

from tests.benchmarks import fresh
from tests.benchmarks.rows import Row

SAMPLES = 7


def rows() -> Iterator[Row]:
    samples = fresh.samples(SAMPLES, sys.executable, "-m", "tests.benchmarks.core_probe")
    middle = {key: statistics.median(sample[key] for sample in samples) for key in samples[0]}
    yield Row(
        what="import of all built-in tools: CPU",
        value=middle["cpu_ms"],
        unit="ms",
        target=150,
        detail=f"{middle['tools']:.0f} tools, {middle['modules']:.0f} modules",
        theirs="hermes-agent 0.19.0: 539 to 619 ms, 79 tools (quoted)",
    )
    yield Row(
        what="import of all built-in tools: peak memory",
        value=middle["memory_mb"],
        unit="MB",
        target=45,
        theirs="hermes-agent 0.19.0: 73 MB (quoted)",
    )
    yield Row(
        what="definitions of all tools, first time",
        value=middle["definitions_ms"],
        unit="ms",
        target=20,
        theirs="hermes-agent 0.19.0: 260 ms (quoted)",
    )
