"""Engines for the tests of container backends, and hosts on them that are closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.services import engines, shared
from tests.services.packages import Unavailable
from tools.environments.containers.docker_engine import Engine
from tools.environments.containers.docker_host import DockerHost
from tools.environments.containers.docker_spec import spec_from


def started(kind: str, start: Callable[[str], engines.EngineService]) -> engines.EngineService:
    try:
        return start(kind)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session", params=["dockerd", "podman"])
def engine(request: pytest.FixtureRequest) -> engines.EngineService:
    """Each engine that speaks Docker's API."""
    return started(request.param, shared.shared_engine)


@pytest.fixture(scope="module", params=["dockerd", "podman"])
def own_engine(request: pytest.FixtureRequest) -> Iterator[engines.EngineService]:
    """An engine that a test may stop."""
    service = started(request.param, shared.new_engine)
    yield service
    engines.end(service)


DEFAULTS = {"TERMINAL_CONTAINER_PERSISTENT": "false", "TERMINAL_DOCKER_NETWORK": "none"}


class Hosts:
    """Opens hosts with some settings; throw-away containers without network unless told else."""

    def __init__(self) -> None:
        self.opened: list[DockerHost] = []

    def __call__(
        self,
        service: engines.EngineService,
        settings: dict[str, str] | None = None,
        *,
        session: str = "test",
        workspace: str = "/nonexistent",
        env: dict[str, str] | None = None,
        **about: Any,
    ) -> DockerHost:
        given = {**DEFAULTS, **service.settings, **(settings or {})}
        spec = spec_from(given, session, workspace)
        host = DockerHost(spec, Engine(given), env or {}, **about)
        self.opened.append(host)
        return host


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    made = Hosts()
    yield made
    for host in made.opened:
        host.close()
