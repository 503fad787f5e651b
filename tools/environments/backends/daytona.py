"""A sandbox at Daytona (https://daytona.io)."""

from __future__ import annotations

import importlib.util
import math

from tools.environments.backends import Backend, OpenOptions, Settings
from tools.environments.base import Environment
from tools.environments.cloud_settings import amount, is_persistent, safe_name
from tools.environments.daytona_errors import GET_KEY
from tools.environments.daytona_host import DaytonaHost, DaytonaSandbox
from tools.environments.remote import RemoteEnvironment

MB_IN_GB = 1024
LARGEST_DISK = 10  # GB; Daytona refuses more


def _open(settings: Settings, options: OpenOptions) -> Environment:
    name = f"hermes-{safe_name(options.session)}" if is_persistent(settings) else None
    disk = _gigabytes(settings, "TERMINAL_CONTAINER_DISK")
    sandbox = DaytonaSandbox(
        image=settings.get("TERMINAL_DAYTONA_IMAGE") or None,
        name=name,
        cpu=_up(amount(settings, "TERMINAL_CONTAINER_CPU")),
        memory=_gigabytes(settings, "TERMINAL_CONTAINER_MEMORY"),
        disk=None if disk is None else min(disk, LARGEST_DISK),
        label=options.session,
    )
    key, url = settings.get("DAYTONA_API_KEY", ""), settings.get("DAYTONA_API_URL")
    host = DaytonaHost(sandbox, key, url or None)
    return RemoteEnvironment("daytona", host, cwd=settings.get("TERMINAL_CWD", ""), env=options.env)


def _available(settings: Settings) -> tuple[bool, str]:
    if importlib.util.find_spec("daytona") is None:
        return False, "its library is not installed. Run: pip install 'hermes-jupyter[daytona]'"
    if not settings.get("DAYTONA_API_KEY"):
        return False, f"there is no API key. {GET_KEY}"
    return True, settings.get("TERMINAL_DAYTONA_IMAGE") or "the organization's default snapshot"


def _gigabytes(settings: Settings, name: str) -> int | None:
    megabytes = amount(settings, name)
    return None if megabytes is None else math.ceil(megabytes / MB_IN_GB)


def _up(value: float | None) -> int | None:
    return None if value is None else math.ceil(value)


BACKEND = Backend(
    name="daytona",
    title="Daytona sandbox",
    open=_open,
    available=_available,
    options={
        "DAYTONA_API_KEY": "the key",
        "DAYTONA_API_URL": "of a Daytona of your own",
        "TERMINAL_DAYTONA_IMAGE": "an image of a registry; the default snapshot if not set",
        "TERMINAL_CONTAINER_CPU": "how many cores; this and the next two with an image only",
        "TERMINAL_CONTAINER_MEMORY": "how much memory, in MB",
        "TERMINAL_CONTAINER_DISK": f"how much disk, in MB; at most {LARGEST_DISK} GB",
        "TERMINAL_CONTAINER_PERSISTENT": "false: the sandbox and its files end with the session",
        "TERMINAL_CWD": "the folder there to start in",
    },
)
