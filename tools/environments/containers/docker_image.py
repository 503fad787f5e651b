"""The image of a container, pulled if the engine has none."""

from __future__ import annotations

from typing import Any

from tools.environments.containers.docker_engine import (
    SECONDS_TO_MOVE_DATA,
    Engine,
    is_missing,
    patience,
    was_refused,
)
from tools.environments.host import HostError


def image_of(engine: Engine, name: str) -> dict[str, Any]:
    """What the engine says of an image, pulled if it is not there.

    Raises
    ------
    HostError
        If it cannot be had.
    """
    try:
        with engine.translating():
            return dict(engine.api.inspect_image(name))
    except HostError as error:
        if not is_missing(error):
            raise
    _pull(engine, name)
    with engine.translating():
        return dict(engine.api.inspect_image(name))


def _pull(engine: Engine, image: str) -> None:
    problem = ""
    try:
        with engine.translating(), patience(SECONDS_TO_MOVE_DATA):
            for line in engine.api.pull(image, stream=True, decode=True):
                problem = str(line.get("error") or problem)
    except HostError as error:
        if not was_refused(error):
            raise
        problem = str(error)
    if problem:
        raise HostError(
            f"the image {image!r} is not there and cannot be pulled: {problem}; check "
            "TERMINAL_DOCKER_IMAGE, or load it into the engine by hand"
        )
