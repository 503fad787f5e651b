"""Terminals: what a command costs in each place that can be had here, and what it must not cost."""

from __future__ import annotations

import gc
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tests.backends.place import Open, Place, all_places
from tests.benchmarks.rows import Row, spread
from tools.environments.base import Environment

CALLS = 50
MANY = 1_000
JOBS = 50
BYTES = 100_000_000
TARGETS = {"local": 5, "docker": 5, "podman": 5, "ssh": 15, "openssh": 15, "singularity": 5}
FIRST = {"local": 60}
UPSTREAM = {"local": "hermes-agent 0.19.0: 20 ms, first 800 to 1000 ms (quoted)"}


def rows() -> Iterator[Row]:
    for place in all_places().values():
        with ExitStack() as stack:
            if reason := place.missing():
                yield Row(what=f"{place.title}: true", detail=reason)
                continue
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            opener = stack.enter_context(place.start(folder))
            yield from _commands(place, opener)
            if place.name in ("local", "bash-host", "openssh"):
                yield from _amounts(place, opener)


def _commands(place: Place, opener: Open) -> Iterator[Row]:
    with opener() as shell:
        began = time.perf_counter()
        shell.execute("true")
        first = (time.perf_counter() - began) * 1e3
        taken = spread([_seconds(shell, f"true {number}") for number in range(CALLS)], 1e3)
    yield Row(
        what=f"{place.title}: true",
        value=taken.median,
        unit="ms",
        target=TARGETS.get(place.name),
        detail=taken.detail("ms"),
        theirs=UPSTREAM.get(place.name, ""),
    )
    yield Row(
        what=f"{place.title}: first command",
        value=first,
        unit="ms",
        target=FIRST.get(place.name),
    )


def _amounts(place: Place, opener: Open) -> Iterator[Row]:
    with opener() as shell:
        shell.execute("true")
        before = _resident()
        seconds = _seconds(shell, f"yes | head -c {BYTES}")
        yield Row(
            what=f"{place.title}: {BYTES // 1_000_000} MB of output, memory",
            value=_resident() - before,
            unit="MB",
            target=60,
            detail=f"{BYTES / 1e6 / seconds:.0f} MB/s",
        )
        gc.collect()
        open_before = _descriptors()
        seconds = sum(_seconds(shell, "true") for _ in range(MANY))
        yield Row(
            what=f"{place.title}: descriptors after {MANY} commands",
            value=_descriptors() - open_before,
            target=0,
            detail=f"{seconds / MANY * 1e3:.1f} ms each",
        )
        began = time.perf_counter()
        jobs = [shell.spawn(f"echo {number}") for number in range(JOBS)]
        started = time.perf_counter() - began
        ended = all(job.wait(120, lambda: False) for job in jobs)
        told = [job.tail(99).strip() for job in jobs] == [str(number) for number in range(JOBS)]
        yield Row(
            what=f"{place.title}: {JOBS} background jobs at once",
            value=time.perf_counter() - began,
            unit="s",
            detail=f"started in {started:.1f} s, all right: {ended and told}",
        )


def _seconds(shell: Environment, command: str) -> float:
    began = time.perf_counter()
    result = shell.execute(command, timeout=300)
    if result.exit_code:
        raise RuntimeError(f"{command!r} failed: {result.output[-200:]}")
    return time.perf_counter() - began


def _resident() -> float:
    """The most that was ever in memory, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count of this very process
