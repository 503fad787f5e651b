"""Runs every test that wants a ``shell`` in every place, and tells what passed where."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.backends.place import Open, Place, all_places
from tests.backends.table import BEHAVIOUR, PLACE, Outcomes
from tools.environments.base import Environment

PLACES = all_places()
ENGINES = {"dockerd": "docker", "docker": "docker", "podman": "podman"}
"""What tests of engines call them, and their place."""


def pytest_addoption(parser: pytest.Parser) -> None:
    known = f"only this place ({', '.join(PLACES)}); repeatable"
    parser.addoption("--place", action="append", default=[], help=known)
    parser.addoption("--table", default="", help="write what passed where into this file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*what): not for places that lack one of these")
    if (path := config.getoption("--table", "")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(Path(path)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--place``, the engines of other places rest, too."""
    asked = config.getoption("--place", [])
    resting = {engine for engine, place in ENGINES.items() if asked and place not in asked}
    left = [item for item in items if resting.intersection(_names(item))]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def _names(item: pytest.Item) -> list[str]:
    spec = getattr(item, "callspec", None)
    return [value for value in spec.params.values() if isinstance(value, str)] if spec else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "place" in metafunc.fixturenames:
        wanted = metafunc.config.getoption("--place", []) or list(PLACES)
        # The tests of one place run in one worker, which starts its engine once.
        rows = [
            pytest.param(PLACES[name], id=name, marks=pytest.mark.xdist_group(name))
            for name in wanted
        ]
        metafunc.parametrize("place", rows, scope="session")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if isinstance(item, pytest.Function) and isinstance(
        place := getattr(item, "callspec", None) and item.callspec.params.get("place"), Place
    ):
        report.user_properties += [(PLACE, place.name), (BEHAVIOUR, item.originalname)]
    return report


class Table:
    """Writes the page when all is done, also where the tests ran in other processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._outcomes = Outcomes(PLACES)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._outcomes.add(report)

    def pytest_sessionfinish(self) -> None:
        self._path.write_text(self._outcomes.table(), encoding="utf-8")


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Open]]:
    """The engines that run already, by the name of their place; they end with the session."""
    with ExitStack() as stack:
        yield Engines(stack, tmp_path_factory)


class Engines(dict[str, Open]):
    """Starts an engine when somebody asks for it first."""

    def __init__(self, stack: ExitStack, folders: pytest.TempPathFactory) -> None:
        super().__init__()
        self._stack, self._folders = stack, folders

    def opener(self, place: Place) -> Open:
        if place.name not in self:
            if reason := place.missing():
                pytest.skip(reason)
            self[place.name] = self._stack.enter_context(
                place.start(self._folders.mktemp(place.name))
            )
        return self[place.name]


@pytest.fixture
def opener(request: pytest.FixtureRequest, place: Place, engines: Engines) -> Open:
    """Opens another environment of the place."""
    for marker in request.node.iter_markers("needs"):
        if lacking := place.lacks.intersection(marker.args):
            pytest.skip(f"{place.name} has no {', '.join(sorted(lacking))}")
    return engines.opener(place)


@pytest.fixture
def shell(opener: Open) -> Iterator[Environment]:
    """An environment in an empty folder."""
    with opener() as environment:
        folder = f"/tmp/hermes-test-{uuid.uuid4().hex[:12]}"
        made = environment.execute(f"mkdir -p {folder} && cd {folder}", timeout=60)
        assert made.exit_code == 0, made.output
        yield environment
        environment.execute(f"cd / && rm -rf {folder}", timeout=60)
