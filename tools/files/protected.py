"""Places that a person must be asked about: secrets to read, and files that hold a system together.

Matching ignores case, so that ``~/.SSH`` on a file system that does is no way around it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

from tools.files import globs

ANY_FOLDER = "(?:.*/)?"
"""How `tools.files.globs` translates a leading ``**/``."""

SECRETS = {
    "private keys": (
        "**/.ssh/**", "**/*id_{rsa,dsa,ecdsa,ed25519}", "**/id_{rsa,dsa,ecdsa,ed25519}.*",
        "**/*.{pem,p12,pfx,keystore}", "**/*_rsa.key", "**/private*.key", "**/.gnupg/**",
        "/etc/ssl/private/**", "/etc/ssh/ssh_host_*_key",
    ),
    "credentials": (
        "**/.aws/credentials*", "**/.aws/config", "**/.aws/sso/**", "**/.aws/cli/cache/**",
        "**/.{netrc,pgpass,git-credentials,npmrc,pypirc}*", "**/_netrc", "**/.my.cnf*",
        "**/.kube/config*", "**/.docker/config*", "**/.azure/**", "**/.config/{gh,gcloud}/**",
        "~/.config/hub", "~/.config/rclone/**", "~/.config/op/**", "~/.cargo/credentials*",
        "~/.gem/credentials", "~/.terraform.d/credentials*", "~/.config/git/credentials",
        "**/{.cache/,.}huggingface/token", "**/.kaggle/kaggle.json", "~/.password-store/**",
        "**/.vault-token*", "**/.databrickscfg*", "/etc/{,g}shadow*", "/etc/sudoers",
        "/etc/sudoers.d/**", "/run/secrets/**", "/var/run/secrets/**",
        "**/{credentials,secret,secrets}{,.json,.yaml,.yml,.toml,.txt,.ini}",
    ),
    "keys and passwords of programs": (
        "**/.env", "**/.env.*", "~/.hermes/auth*.json", "~/.config/openai/**",
    ),
    "the whole environment of a process": ("/proc/*/environ",),
    "access to this Jupyter server": (
        "**/jupyter/runtime/*.json", "**/jupyter_cookie_secret", "**/jupyter_server_config.json",
        "**/{jp,nb}server-*",
    ),
    "passwords of a browser or keyring": (
        "~/.mozilla/**/logins.json", "~/.mozilla/**/key4.db", "~/.config/google-chrome/**",
        "~/.config/chromium/**", "~/.local/share/keyrings/**", "~/Library/Keychains/**",
    ),
}  # fmt: skip

NO_SECRETS = (
    "**/.env.example", "**/.env.sample", "**/.env.template", "**/.env.dist", "**/*.pub",
    "**/.ssh/config", "**/.ssh/known_hosts*", "**/cacert.pem", "/etc/ssl/certs/**",
    "**/certifi/**",
)  # fmt: skip

SYSTEM = {
    "part of the system": (
        "/etc/**", "/boot/**", "/bin/**", "/sbin/**", "/lib/**", "/lib64/**",
        "/usr/{,s}bin/**", "/usr/lib*/**",
        "/usr/share/**", "/usr/local/{bin,sbin,lib,etc}/**", "/sys/**",
        "/proc/**", "/dev/**", "/System/**", "/Library/**", "/private/etc/**", "/var/spool/cron/**",
        "/run/systemd/**", "/var/run/docker.sock", "/run/docker.sock", "[a-z]:/windows/**",
    ),
    "a shell start-up file": (
        "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.bash_aliases",
        "~/.profile", "~/.zshrc", "~/.zprofile", "~/.zshenv", "~/.zlogin", "~/.zlogout", "~/.kshrc",
        "~/.cshrc", "~/.tcshrc", "~/.login", "~/.inputrc", "~/.xprofile", "~/.xinitrc",
        "~/.config/fish/**",
    ),
    "a file that starts programs": (
        "~/.config/autostart/**", "~/.config/systemd/**", "~/.local/share/systemd/**",
        "~/Library/LaunchAgents/**", "**/.git/hooks/**", "**/.git/config", "~/.gitconfig",
        "~/.config/git/config", "**/.ipython/profile_*/startup/**", "**/ipython_config.py",
        "**/ipython_kernel_config.py", "~/.jupyter/**", "**/jupyter_*config.py",
        "**/jupyter/kernels/**", "**/site-packages/*.pth", "**/sitecustomize.py",
        "**/usercustomize.py", "~/.vimrc", "~/.config/nvim/**", "~/.emacs", "~/.emacs.d/**",
        "~/.pythonrc*", "~/.local/bin/**", "~/.ssh/**", "~/.docker/**", "~/.kube/**", "~/.aws/**",
    ),
    "part of this agent's configuration": (
        "~/.hermes/config.yaml", "~/.hermes/.env", "~/.hermes/jupyter/**", "~/.hermes/plugins/**",
        "~/.hermes/hooks/**",
    ),
}  # fmt: skip


class Places:
    """Patterns of paths, sorted by what they stand for; compiled when first asked."""

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        self._patterns = patterns

    def kind_of(self, path: str) -> str | None:
        """What the path stands for, if it fits any pattern."""
        if not self._any.fullmatch(path):
            return None
        fitting = (kind for kind, each in self._patterns.items() if _union(each).fullmatch(path))
        return next(fitting, None)

    @functools.cached_property
    def _any(self) -> re.Pattern[str]:
        return _union([each for patterns in self._patterns.values() for each in patterns])


def _union(patterns: Sequence[str]) -> re.Pattern[str]:
    """One expression for all; what may be in any folder shares the search for the folder."""
    bodies = [globs.compiled(each.lower()).pattern for each in patterns]
    floating = [each.removeprefix(ANY_FOLDER) for each in bodies if each.startswith(ANY_FOLDER)]
    fixed = [each for each in bodies if not each.startswith(ANY_FOLDER)]
    shared = [f"{ANY_FOLDER}(?:{'|'.join(floating)})"] if floating else []
    return re.compile("|".join([*shared, *fixed]), re.DOTALL)


_SECRETS = Places(SECRETS)
_NO_SECRETS = Places({"no secret": NO_SECRETS})
_SYSTEM = Places(SYSTEM)


def secret_in(path: str, home: str) -> str | None:
    """What kind of secret a file of this path holds, if any."""
    what = _kind_in(_SECRETS, path, home)
    return None if what and _kind_in(_NO_SECRETS, path, home) else what


def secret_at(path: str, home: str) -> str | None:
    """The same for a path that may also be a folder with secrets in it."""
    what = _kind_in(_SECRETS, path, home) or _kind_in(_SECRETS, f"{path}/any", home)
    return None if what and _kind_in(_NO_SECRETS, path, home) else what


def protection_of(path: str, home: str) -> str | None:
    """Why changing this path needs a person, if it does."""
    if secret := secret_in(path, home):
        return f"which may hold {secret}"
    what = _kind_in(_SYSTEM, path, home)
    return f"which is {what}" if what else None


def _kind_in(places: Places, path: str, home: str) -> str | None:
    return next(filter(None, map(places.kind_of, _spellings(path, home))), None)


def _spellings(path: str, home: str) -> tuple[str, ...]:
    """The path as the patterns are written: lower case, with ``/``, from ``~`` and the root."""
    plain, plain_home = _plain(path), _plain(home).rstrip("/")
    if plain_home and plain.startswith(plain_home + "/"):
        return "~" + plain[len(plain_home) :], plain
    return (plain,)


def _plain(path: str) -> str:
    return path.replace("\\", "/").lower()
