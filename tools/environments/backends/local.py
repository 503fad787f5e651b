"""Commands on this machine, as the user."""

from __future__ import annotations

from tools.environments.backends import Backend, OpenOptions, Settings
from tools.environments.base import Environment
from tools.environments.local import LocalEnvironment, shell_is_available


def _open(settings: Settings, options: OpenOptions) -> Environment:
    return LocalEnvironment(settings.get("TERMINAL_CWD") or options.workspace or None, options.env)


def _available(settings: Settings) -> tuple[bool, str]:
    available, why_not = shell_is_available()
    return available, "bash on this machine" if available else why_not


BACKEND = Backend(
    name="local",
    title="this machine",
    open=_open,
    available=_available,
    options={"TERMINAL_CWD": "the folder to start in; the notebook's own if not set"},
)
