"""How a container of this project is known, and how it is removed."""

from __future__ import annotations

from tools.environments.containers.docker_engine import Engine, is_missing
from tools.environments.containers.docker_spec import ContainerSpec
from tools.environments.containers.owner import this_owner
from tools.environments.host import HostError

LABEL = "hermes.jupyter"
OWNER, SESSION, PERSISTENT = f"{LABEL}.owner", f"{LABEL}.session", f"{LABEL}.persistent"


def labels_of(spec: ContainerSpec) -> dict[str, str]:
    persistent = "true" if spec.persistent else "false"
    return {LABEL: "1", OWNER: this_owner(), SESSION: spec.session, PERSISTENT: persistent}


def remove(engine: Engine, identity: str) -> None:
    """Remove a container with all that it holds; nothing if there is none.

    Raises
    ------
    HostError
    """
    try:
        with engine.translating():
            engine.api.remove_container(identity, force=True, v=True)
    except HostError as error:
        busy = "already in progress" in str(error)
        if not is_missing(error) and not busy:
            raise
