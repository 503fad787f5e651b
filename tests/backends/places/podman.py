"""The docker backend on ``podman system service``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tests.backends.places.docker import settings_on
from tests.services import shared
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    settings = settings_on("podman")
    yield lambda: backend("docker").open(settings, OpenOptions(session="conformance"))


PLACE = Place(
    name="podman",
    title="podman",
    missing=lambda: shared.why_no_engine("podman"),
    start=start,
    isolated=True,
)
