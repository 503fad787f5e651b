"""How another machine is reached: what is set, what ``asyncssh`` is told, what its errors mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.environments.async_host import import_extra
from tools.environments.host import HostError

SECONDS_TO_CONNECT = 20.0
SECONDS_BETWEEN_SIGNS = 5.0
SIGNS_MISSED = 3
"""After so many of them without an answer the connection counts as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A machine, and how to log in there. What is empty is taken from ``~/.ssh/config``."""

    host: str
    user: str = ""
    port: int = 0
    key: str = ""
    """The file of a private key; else the agent and the usual files are asked."""
    password: str = field(default="", repr=False)
    known_hosts: str = ""
    """A file, if not the usual ones."""
    config: str = ""
    """A file, if not ``~/.ssh/config``."""

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        return f"{user}{self.host}{f':{self.port}' if self.port else ''}"


def destination_of(settings: Mapping[str, str]) -> Destination:
    """What the settings say.

    Raises
    ------
    HostError
        If no host is named, or the port is none.
    """
    host = settings.get("TERMINAL_SSH_HOST", "").strip()
    if not host:
        raise HostError(
            "no machine is named. Set TERMINAL_SSH_HOST, or terminal: ssh_host: in config.yaml, to "
            "its name or to a Host of ~/.ssh/config"
        )
    port = settings.get("TERMINAL_SSH_PORT", "").strip() or "0"
    if not port.isdigit() or int(port) > 65_535:
        raise HostError(f"TERMINAL_SSH_PORT must be a number, not {port!r}")
    return Destination(
        host=host,
        user=settings.get("TERMINAL_SSH_USER", "").strip(),
        port=int(port),
        key=settings.get("TERMINAL_SSH_KEY", "").strip(),
        password=settings.get("TERMINAL_SSH_PASSWORD", ""),
        known_hosts=settings.get("TERMINAL_SSH_KNOWN_HOSTS", "").strip(),
        config=settings.get("TERMINAL_SSH_CONFIG", "").strip(),
    )


def arguments_of(wanted: Destination) -> dict[str, Any]:
    """For `asyncssh.connect`. What is left out it takes from ``~/.ssh/config``."""
    told: dict[str, Any] = {
        "host": wanted.host,
        "connect_timeout": SECONDS_TO_CONNECT,
        "login_timeout": SECONDS_TO_CONNECT,
        "keepalive_interval": SECONDS_BETWEEN_SIGNS,
        "keepalive_count_max": SIGNS_MISSED,
    }
    if wanted.user:
        told["username"] = wanted.user
    if wanted.port:
        told["port"] = wanted.port
    if wanted.key:
        told["client_keys"] = [str(Path(wanted.key).expanduser())]
    if wanted.password:
        told["password"] = wanted.password
    if wanted.known_hosts:
        told["known_hosts"] = str(Path(wanted.known_hosts).expanduser())
    if wanted.config:
        told["config"] = [str(Path(wanted.config).expanduser())]
    return told


def explain(wanted: Destination, error: BaseException) -> HostError:
    """One line with a remedy for what went wrong on the way to a machine."""
    asyncssh = import_extra("asyncssh", "ssh")
    match error:
        case HostError():
            return error
        case asyncssh.HostKeyNotVerifiable():
            return HostError(_about_host_key(wanted))
        case asyncssh.PermissionDenied():
            return HostError(
                f"{wanted} lets nobody in with what it was offered. Load the key into the agent "
                "(ssh-add), name its file in TERMINAL_SSH_KEY, or set TERMINAL_SSH_PASSWORD; and "
                "look at TERMINAL_SSH_USER"
            )
        case asyncssh.KeyEncryptionError() | asyncssh.KeyImportError():
            return HostError(
                f"the key {wanted.key or 'for ' + str(wanted)} cannot be read: {error}. A key with "
                "a passphrase is used through the agent: ssh-add"
            )
        case asyncssh.ConnectionLost() | ConnectionResetError() | BrokenPipeError():
            return HostError(f"the connection to {wanted} was lost ({error or 'cut'})")
        case asyncssh.ChannelOpenError():
            return HostError(f"{wanted}, or the machine to jump from, refuses: {error}")
        case TimeoutError():
            return HostError(f"{wanted} does not answer within {SECONDS_TO_CONNECT:g} s")
        case FileNotFoundError():
            return HostError(f"no such file: {error.filename!r}")
        case OSError():
            return HostError(
                f"{wanted} cannot be reached: {error.strerror or error}. Is its name right, and is "
                "it up? Try: ssh " + str(wanted)
            )
        case _:
            return HostError(f"{wanted}: {type(error).__name__}: {error}")


def _about_host_key(wanted: Destination) -> str:
    if _is_known(wanted):
        return (
            f"the key of {wanted} has changed. Either the machine was set up anew, or somebody "
            "stands between you and it. Nothing was sent. If you know why it changed, remove the "
            f"old key: ssh-keygen -R {_entry(wanted)}"
        )
    return (
        f"the key of {wanted} is not in known_hosts, so it could be anybody. Connect once by hand "
        f"and compare the fingerprint: ssh {f'-p {wanted.port} ' if wanted.port else ''}"
        f"{f'{wanted.user}@' if wanted.user else ''}{wanted.host}"
    )


def _entry(wanted: Destination) -> str:
    return f"'[{wanted.host}]:{wanted.port}'" if wanted.port not in (0, 22) else wanted.host


def _is_known(wanted: Destination) -> bool:
    """Is there a key for this host, if another one?"""
    asyncssh = import_extra("asyncssh", "ssh")
    path = Path(wanted.known_hosts or "~/.ssh/known_hosts").expanduser()
    if not os.access(path, os.R_OK):
        return False
    try:
        keys = asyncssh.match_known_hosts(str(path), wanted.host, "", wanted.port or 22)
    except (OSError, ValueError):
        return False
    return bool(keys[0])
