"""A container of dockerd, of podman's service, or of any engine that speaks Docker's API."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from tools.environments.backends import Backend, OpenOptions, Settings
from tools.environments.base import Environment
from tools.environments.containers.docker_engine import MISSING, Engine, address_from
from tools.environments.containers.docker_host import DockerHost
from tools.environments.containers.docker_spec import IMAGE, spec_from
from tools.environments.containers.values import Values
from tools.environments.host import HostError
from tools.environments.remote import RemoteEnvironment


def _open(settings: Settings, options: OpenOptions) -> Environment:
    try:
        spec = spec_from(settings, options.session, options.workspace)
        env = {**_variables(settings), **options.env}
        reaps = Values(settings).flag("TERMINAL_DOCKER_ORPHAN_REAPER", True)
    except ValueError as error:
        raise HostError(str(error)) from error
    host = DockerHost(spec, Engine(settings), env, reaps=reaps)
    return RemoteEnvironment("docker", host, cwd=spec.cwd, env=options.env)


def _variables(settings: Settings) -> dict[str, str]:
    """What the user wants commands to have there."""
    values = Values(settings)
    names = values.words("TERMINAL_DOCKER_FORWARD_ENV")
    forwarded = {name: settings.get(name) or os.environ.get(name, "") for name in names}
    return {**forwarded, **values.pairs("TERMINAL_DOCKER_ENV")}


def _available(settings: Settings) -> tuple[bool, str]:
    if importlib.util.find_spec("docker") is None:
        return False, MISSING
    try:
        address = address_from(settings)
        spec = spec_from(settings, "", "")
    except (HostError, ValueError) as error:
        return False, str(error)
    socket = address.removeprefix("unix://")
    if socket != address and not Path(socket).exists():
        return False, f"no engine listens at {socket}; start docker or podman, or set DOCKER_HOST"
    return True, f"{spec.image} at {address}"


BACKEND = Backend(
    name="docker",
    title="Docker container",
    open=_open,
    available=_available,
    options={
        "DOCKER_HOST": "where the engine listens; docker's context or a usual socket if not set",
        "TERMINAL_DOCKER_IMAGE": f"the image; {IMAGE} if not set",
        "TERMINAL_DOCKER_WORKSPACE": "none, mount or copy: the notebook's folder at /workspace",
        "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE": "true: as TERMINAL_DOCKER_WORKSPACE=mount",
        "TERMINAL_DOCKER_VOLUMES": 'JSON list of "/here:/there" or "/here:/there:ro"',
        "TERMINAL_DOCKER_NETWORK": "true, false, or the name of a network",
        "TERMINAL_DOCKER_READ_ONLY": "true: only /workspace, the home and tmpfs can be written to",
        "TERMINAL_DOCKER_TMPFS": 'JSON list of "/tmp:size=512m"',
        "TERMINAL_DOCKER_CAPABILITIES": "what root may do there; all others are dropped",
        "TERMINAL_DOCKER_PIDS": "how many processes; 256 if not set",
        "TERMINAL_DOCKER_USER": "the user there, such as 1000:1000",
        "TERMINAL_DOCKER_RUN_AS_HOST_USER": "true: as the user of this notebook",
        "TERMINAL_DOCKER_RUNTIME": "another runtime of the engine, such as runsc",
        "TERMINAL_DOCKER_ENV": "JSON object of variables for all commands",
        "TERMINAL_DOCKER_FORWARD_ENV": "JSON list of variables of this machine to pass on",
        "TERMINAL_CONTAINER_CPU": "how many cores; 1 if not set",
        "TERMINAL_CONTAINER_MEMORY": "how much memory, in MB or as 2g; 5120 if not set",
        "TERMINAL_CONTAINER_DISK": "how much disk, where the engine can limit it",
        "TERMINAL_CONTAINER_PERSISTENT": "false: the container and its files end with the session",
        "TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES": "true: it runs on when the session ends",
        "TERMINAL_DOCKER_ORPHAN_REAPER": "false: leave containers of dead processes alone",
        "TERMINAL_CWD": "the folder there to start in",
    },
)
