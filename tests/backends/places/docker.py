"""A container of dockerd."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tests.services import shared
from tools.environments.backends import OpenOptions, backend


def settings_on(kind: str) -> dict[str, str]:
    """A throw-away container without network on the engine that the tests share."""
    return {
        **shared.shared_engine(kind).settings,
        "TERMINAL_CONTAINER_PERSISTENT": "false",
        "TERMINAL_DOCKER_NETWORK": "none",
    }


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    settings = settings_on("dockerd")
    yield lambda: backend("docker").open(settings, OpenOptions(session="conformance"))


PLACE = Place(
    name="docker",
    title="Docker",
    missing=lambda: shared.why_no_engine("dockerd"),
    start=start,
    isolated=True,
)
