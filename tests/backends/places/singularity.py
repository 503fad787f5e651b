"""An instance of apptainer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.backends.place import Open, Place
from tests.services import apptainer
from tools.environments.backends import OpenOptions, backend


@contextmanager
def start(folder: Path) -> Iterator[Open]:
    images = apptainer.images()
    assert isinstance(images, apptainer.Images)
    settings = images.settings()
    yield lambda: backend("singularity").open(settings, OpenOptions(session="conformance"))


PLACE = Place(
    name="singularity", title="Apptainer", missing=apptainer.why_none, start=start, isolated=True
)
