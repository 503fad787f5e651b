"""Making the container of a session: what it may use, and what it is kept from."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.environments.containers.docker_engine import Engine, was_refused
from tools.environments.containers.docker_image import image_of
from tools.environments.containers.docker_labels import labels_of, remove
from tools.environments.containers.docker_spec import ContainerSpec
from tools.environments.containers.docker_workspace import fill_workspace, own_workspace
from tools.environments.containers.mounts import WORKSPACE
from tools.environments.host import HostError

FIRST_PROCESS = 'trap "exit 0" TERM INT; while :; do sleep 86400 & wait "$!"; done'
"""Waits, and by that buries the orphans of the container; every POSIX shell does."""
NO_DISK_LIMIT = "its storage driver cannot limit the disk"


def create(engine: Engine, spec: ContainerSpec) -> tuple[str, str]:
    """Create and start a container; its id, and what of the spec could not be had ("" if all).

    Raises
    ------
    HostError
        If the image cannot be had, or the engine refuses the spec.
    """
    user = spec.user or image_of(engine, spec.image)["Config"].get("User") or "root"
    identity, note = _create(engine, spec, user)
    try:
        with engine.translating():
            if spec.workspace != "mount" and not _is_root(user):
                own_workspace(engine, spec, identity, user)
            engine.api.start(identity)
            if spec.workspace == "copy":
                fill_workspace(engine.api, identity, Path(spec.workspace_folder))
    except BaseException:
        remove(engine, identity)
        raise
    return identity, note


def _is_root(user: str) -> bool:
    return user.split(":")[0] in ("0", "root")


def _create(engine: Engine, spec: ContainerSpec, user: str) -> tuple[str, str]:
    # podman lets an ordinary user have what is added, beyond what its root would have.
    held = spec if _is_root(user) else replace(spec, capabilities=())
    try:
        return _ask(engine, held, spec.name), ""
    except HostError as error:
        text = str(error).lower()
        about_storage = was_refused(error) and ("storage" in text or "quota" in text)
        if not spec.disk or not about_storage:
            raise
    return _ask(engine, replace(held, disk=0), spec.name), NO_DISK_LIMIT


def _ask(engine: Engine, spec: ContainerSpec, name: str) -> str:
    """One request to create it; the engine's id for it."""
    api = engine.api
    with engine.translating():
        made = api.create_container(
            spec.image,
            entrypoint=["/bin/sh", "-c", FIRST_PROCESS],
            name=name if spec.persistent else f"{name}-{secrets.token_hex(3)}",
            user=spec.user or None,
            working_dir=spec.cwd,
            environment={"HOME": "/tmp"} if spec.user else None,
            # Also where the root is read-only, and reachable for the engine's own file calls.
            volumes=[WORKSPACE] if spec.workspace != "mount" else None,
            labels=labels_of(spec),
            # podman has none where there is no systemd, and complains in its log.
            healthcheck=None if engine.is_podman else {"test": ["NONE"]},
            host_config=api.create_host_config(**_limits(api, spec)),
        )
    return str(made["Id"])


def _limits(api: Any, spec: ContainerSpec) -> dict[str, Any]:
    cpus = min(spec.cpus, float(api.info()["NCPU"])) if spec.cpus > 1 else spec.cpus
    limits = {
        "mem_limit": spec.memory or None,
        "memswap_limit": spec.memory or None,
        "nano_cpus": int(cpus * 1e9) or None,
        "pids_limit": spec.pids or None,
        "storage_opt": {"size": str(spec.disk)} if spec.disk else None,
        "runtime": spec.runtime or None,
    }
    return {
        **{name: limit for name, limit in limits.items() if limit is not None},
        "network_mode": spec.network,
        "read_only": spec.read_only,
        "cap_drop": ["ALL"],
        "cap_add": list(spec.capabilities),
        "security_opt": ["no-new-privileges"],
        "tmpfs": dict(map(_tmpfs, spec.tmpfs)),
        "binds": [f"{v.source}:{v.target}:{v.options}" for v in spec.mounts],
    }


def _tmpfs(text: str) -> tuple[str, str]:
    """``/tmp:size=1m`` as the engine wants it; programs may run there unless it says noexec."""
    path, _, options = text.partition(":")
    execute = () if "noexec" in options.split(",") else ("exec",)
    return path, ",".join(("rw", "nosuid", "nodev", *execute, *filter(None, [options])))
