"""Containers that a process left behind when it died: removed, or stopped if they shall persist."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.environments.containers import owner
from tools.environments.containers.docker_engine import Engine
from tools.environments.containers.docker_labels import LABEL, OWNER, PERSISTENT, remove
from tools.environments.host import HostError

UNUSED_FOR = timedelta(days=14)
WAITING = 2
"""So many processes are in a container in which nothing runs: a shell that waits for a sleep."""

logger = logging.getLogger(__name__)


def reap(engine: Engine) -> list[str]:
    """Look at all containers of this project; the names of those that were removed or stopped.

    A container whose owner runs on another machine, or in another container, is left alone.

    Raises
    ------
    HostError
    """
    with engine.translating():
        found = engine.api.containers(all=True, filters={"label": f"{LABEL}=1"})
    return [name for container in found if (name := _reap_one(engine, container))]


def _reap_one(engine: Engine, container: dict[str, Any]) -> str:
    labels, identity = container["Labels"], container["Id"]
    name: str = container["Names"][0].lstrip("/") if container["Names"] else identity[:12]
    if not owner.is_gone(labels.get(OWNER, "")):
        return ""
    try:
        if labels.get(PERSISTENT) != "true" or _is_forgotten(engine, container):
            remove(engine, identity)
        elif container["State"] == "running" and _is_idle(engine, identity):
            with engine.translating():
                engine.api.kill(identity)
        else:
            return ""
    except HostError as error:  # another process reaps it as well, or starts it
        logger.debug("container %s was not reaped: %s", name, error)
        return ""
    logger.info("container %s of a process that is gone was reaped", name)
    return name


def _is_forgotten(engine: Engine, container: dict[str, Any]) -> bool:
    """Whether it ended long ago and nobody came back."""
    if container["State"] not in ("exited", "stopped"):
        return False
    with engine.translating():
        ended = engine.api.inspect_container(container["Id"])["State"]["FinishedAt"]
    moment = datetime.fromisoformat(ended[:19]).replace(tzinfo=UTC)
    return datetime.now(UTC) - moment > UNUSED_FOR


def _is_idle(engine: Engine, identity: str) -> bool:
    """Whether neither a session nor a background job runs in it."""
    with engine.translating():
        table = engine.api.top(identity)
    return len(table["Processes"]) <= WAITING
