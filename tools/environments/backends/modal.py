"""A sandbox at Modal (https://modal.com)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tools.environments.backends import Backend, OpenOptions, Settings
from tools.environments.base import Environment
from tools.environments.cloud_settings import amount, is_persistent, safe_name
from tools.environments.modal_errors import GET_TOKEN
from tools.environments.modal_host import ModalHost, ModalSandbox
from tools.environments.remote import RemoteEnvironment

IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20"
CREDENTIALS = "~/.modal.toml"


def _open(settings: Settings, options: OpenOptions) -> Environment:
    persistent = is_persistent(settings)
    sandbox = ModalSandbox(
        image=settings.get("TERMINAL_MODAL_IMAGE") or IMAGE,
        name=f"hermes-{safe_name(options.session)}" if persistent else None,
        cpu=amount(settings, "TERMINAL_CONTAINER_CPU"),
        memory=_whole(amount(settings, "TERMINAL_CONTAINER_MEMORY")),
    )
    host = ModalHost(sandbox, _token(settings))
    return RemoteEnvironment("modal", host, cwd=settings.get("TERMINAL_CWD", ""), env=options.env)


def _available(settings: Settings) -> tuple[bool, str]:
    if importlib.util.find_spec("modal") is None:
        return False, "its library is not installed. Run: pip install 'hermes-jupyter[modal]'"
    if _token(settings) is None and not Path(CREDENTIALS).expanduser().is_file():
        return False, f"there is no token. {GET_TOKEN}"
    return True, settings.get("TERMINAL_MODAL_IMAGE") or IMAGE


def _token(settings: Settings) -> tuple[str, str] | None:
    token = settings.get("MODAL_TOKEN_ID", ""), settings.get("MODAL_TOKEN_SECRET", "")
    return token if all(token) else None


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


BACKEND = Backend(
    name="modal",
    title="Modal sandbox",
    open=_open,
    available=_available,
    options={
        "MODAL_TOKEN_ID": "the token, if `modal token new` has stored none; with its secret",
        "MODAL_TOKEN_SECRET": "the secret of the token",
        "TERMINAL_MODAL_IMAGE": f"an image of a registry, or im-...; {IMAGE} if not set",
        "TERMINAL_CONTAINER_CPU": "how many cores",
        "TERMINAL_CONTAINER_MEMORY": "how much memory, in MB",
        "TERMINAL_CONTAINER_PERSISTENT": "false: the sandbox and its files end with the session",
        "TERMINAL_CWD": "the folder there to start in",
    },
)
