"""What the tests of `tools` share."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tools.places import WAYS, Places, context, places_in
from tools import async_bridge, availability
from tools import registry as registry_module

ROOT = Path(__file__).parents[3]


@pytest.fixture
def registry() -> Iterator[registry_module.ToolRegistry]:
    """The registry of the process, without what a test adds to it."""
    shared = registry_module.registry
    before = set(shared.get_all_tool_names())
    availability.invalidate()
    yield shared
    for entry in shared.entries():
        built_in = entry.handler.__module__.startswith("tools.")
        if entry.name not in before and not built_in:
            shared.deregister(entry.name)
    availability.invalidate()


def _in_main_thread(function: Callable[[], Any]) -> Any:
    return function()


def _in_worker_thread(function: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(timeout=10)


async def _call(function: Callable[[], Any]) -> Any:
    return function()


def _in_running_loop(function: Callable[[], Any]) -> Any:
    return asyncio.run(_call(function))


def _on_persistent_loop(function: Callable[[], Any]) -> Any:
    return async_bridge.loop_thread().submit(_call(function)).result(timeout=10)


@pytest.fixture(
    params=[_in_main_thread, _in_worker_thread, _in_running_loop, _on_persistent_loop],
    ids=["main thread", "worker thread", "running loop", "persistent loop"],
)
def call_from(request: pytest.FixtureRequest) -> Callable[[Callable[[], Any]], Any]:
    """Calls a function in a place a tool may be called from; four places, one after the other."""
    place: Callable[[Callable[[], Any]], Any] = request.param
    return place


@pytest.fixture
def run_script() -> Callable[[str], tuple[str, str, float]]:
    """Runs a script in a process of its own; its output, its errors, and how long it took."""

    def run(script: str) -> tuple[str, str, float]:
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return done.stdout, done.stderr, time.monotonic() - started

    return run


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with places_in(tmp_path_factory.mktemp("places")) as made:
        yield made


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """How a tool reaches files: those of this machine, or of one that has only so much."""
    return str(request.param)


@pytest.fixture
def working_in(way: str, places: Places) -> Callable[[Path], Mapping[str, Any]]:
    """The context of a call that works in a folder."""

    def make(folder: Path) -> Mapping[str, Any]:
        # Only now: a test may have set another home folder.
        return context(None if way == "local" else places.place(way), str(folder))

    return make
