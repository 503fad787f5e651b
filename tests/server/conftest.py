"""One real server for all of these tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kernel"), str(HERE.parent / "browser")]

from served import Server  # noqa: E402


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    strict = "--ServerApp.allow_unauthenticated_access=False"  # then it looks at all handlers
    running = Server(tmp_path_factory.mktemp("server"), {}, (strict,))
    yield running
    running.close()


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where screenshots go."""
    folder = HERE.parents[1] / "artefacts"
    folder.mkdir(exist_ok=True)
    return folder
