"""Another machine, over SSH."""

from __future__ import annotations

import importlib.util

from tools.environments.backends import Backend, OpenOptions, Settings
from tools.environments.base import Environment
from tools.environments.host import HostError
from tools.environments.remote import RemoteEnvironment
from tools.environments.ssh_host import SshHost
from tools.environments.ssh_settings import destination_of


def _open(settings: Settings, options: OpenOptions) -> Environment:
    host = SshHost(destination_of(settings))
    return RemoteEnvironment("ssh", host, cwd=settings.get("TERMINAL_CWD", ""), env=options.env)


def _available(settings: Settings) -> tuple[bool, str]:
    if importlib.util.find_spec("asyncssh") is None:
        return False, "its library is not installed. Run: pip install 'hermes-jupyter[ssh]'"
    try:
        return True, str(destination_of(settings))
    except HostError as problem:
        return False, str(problem)


BACKEND = Backend(
    name="ssh",
    title="another machine over SSH",
    open=_open,
    available=_available,
    options={
        "TERMINAL_SSH_HOST": "its name, or a Host of ~/.ssh/config; that file is honoured",
        "TERMINAL_SSH_USER": "who logs in there",
        "TERMINAL_SSH_PORT": "22 if not set",
        "TERMINAL_SSH_KEY": "the file of a private key; else the agent and the usual files",
        "TERMINAL_SSH_PASSWORD": "a password, where there is no key",
        "TERMINAL_SSH_KNOWN_HOSTS": "a file of known keys, if not ~/.ssh/known_hosts",
        "TERMINAL_SSH_CONFIG": "a file, if not ~/.ssh/config",
        "TERMINAL_CWD": "the folder there to start in",
    },
)
