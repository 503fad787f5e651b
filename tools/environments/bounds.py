"""What a contained process may touch. Which wall of the system holds it there, others say."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.files.paths import is_inside

SECRETS_IN_HOME = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".config/gcloud", ".config/gh",
    ".config/hub", ".config/rclone", ".config/op", ".config/git/credentials", ".config/openai",
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".npmrc", ".pypirc",
    ".vault-token", ".databrickscfg", ".terraform.d", ".kaggle", ".cargo/credentials.toml",
    ".cargo/credentials", ".gem/credentials", ".password-store", ".local/share/keyrings",
    ".mozilla", ".config/google-chrome", ".config/chromium", ".hermes", ".huggingface/token",
    ".cache/huggingface/token",
    # Connection files hold the keys of running kernels: who reads them, runs code there.
    ".local/share/jupyter/runtime",
)  # fmt: skip
SECRETS_IN_SYSTEM = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers",
    "/etc/sudoers.d", "/etc/ssl/private", "/run/secrets", "/var/run/secrets",
    "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
)  # fmt: skip
SYSTEM_FOLDERS = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
)  # fmt: skip


class NotContained(OSError):
    """A command that must be contained cannot be; it was not run. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a contained process may touch. All paths are real ones, links followed."""

    workspace: str
    """May be written to."""
    tmp: str
    """The folder for temporary files of this session alone; may be written to."""
    network: bool = True
    hidden: tuple[str, ...] = ()
    """Files and folders whose content it must not see."""
    shell: str = ""
    """The folder through which `Shell` speaks with it: ``pipes`` to write to, ``state`` to fill,
    and the rest to read only, so that nothing in it can lead Python elsewhere."""


def bounds_of(workspace: str, tmp: str, *, network: bool, also_hidden: Iterable[str]) -> Bounds:
    """The bounds of a session that works in this folder.

    Raises
    ------
    NotContained
        If the folder is too large a thing to be written to freely.
    """
    home = os.path.realpath(Path.home())
    folder = os.path.realpath(workspace)
    hidden = _hidden(home, also_hidden)
    if is_inside(home, folder):
        raise NotContained(f"{folder!r} is or holds your home folder; work in a folder below it")
    if any(is_inside(folder, system) for system in SYSTEM_FOLDERS):
        raise NotContained(f"{folder!r} belongs to the system; work in a folder of your own")
    if is_inside(os.path.realpath(tempfile.gettempdir()), folder):
        raise NotContained(f"{folder!r} holds the temporary files of others; work below it")
    if secret := next((path for path in hidden if is_inside(folder, path)), None):
        raise NotContained(f"{folder!r} is in {secret!r}, which contained commands must not see")
    return Bounds(workspace=folder, tmp=os.path.realpath(tmp), network=network, hidden=hidden)


def _hidden(home: str, also: Iterable[str]) -> tuple[str, ...]:
    """Of the secrets those that are there, without what lies in another one."""
    places = [*(os.path.join(home, name) for name in SECRETS_IN_HOME), *SECRETS_IN_SYSTEM, *also]  # noqa: PTH118
    real = sorted({os.path.realpath(place) for place in places if os.path.lexists(place)})
    return tuple(
        place
        for place in real
        if not any(is_inside(place, other) for other in real if other != place)
    )
