"""Environment variables: which ones hold secrets, and which ones a child process gets.

A name is looked at word by word (``KEYBOARD`` holds no ``KEY``), then the value: a path, a number
or a plain word is no secret, whatever it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

SECRET_WORDS = frozenset({
    "APIKEY", "AUTH", "AUTHORIZATION", "COOKIE", "CREDENTIAL", "CREDENTIALS", "CREDS", "KEY",
    "KEYS", "PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PASSWORDS", "PAT", "PWD",
    "SECRET", "SECRETS", "TOKEN", "TOKENS",
})  # fmt: skip
RUN_TOGETHER = re.compile(r"(?:PASSWORD|PASSWD|SECRET|TOKEN|APIKEY|CREDENTIALS?)$")
"""Ends of names whose words are not kept apart, such as ``PGPASSWORD``."""
HARMLESS_ENDINGS = frozenset({
    "ALGORITHM", "COUNT", "DIR", "ENABLED", "ENDPOINT", "EXPIRY", "FILE", "FORMAT", "HEADER",
    "HOST", "LENGTH", "LIFETIME", "METHOD", "MODE", "NAME", "PATH", "PORT", "PROVIDER", "REGION",
    "REPO", "SIZE", "SOCK", "TIMEOUT", "TTL", "TYPE", "URL", "USER", "USERNAME", "VERSION",
})  # fmt: skip
"""Last words that say that something about a secret is meant, and not the secret."""
OURS = (
    "HERMES_*", "JUPYTER_TOKEN", "JPY_*", "JUPYTERHUB_*TOKEN*", "MODAL_*", "DAYTONA_*",
    "SUDO_PASSWORD",
)  # fmt: skip
"""Of this program and the servers it lives in: no business of a command."""
NEVER_PASSED = frozenset({"SUDO_PASSWORD"})
PASSWORD_WORDS = frozenset({"PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PASSWORDS", "PWD"})
COMMON_WORDS = frozenset({
    "changeme", "default", "development", "disabled", "enabled", "keychain", "keyring",
    "localhost", "optional", "password", "postgres", "production", "required", "security",
    "undefined", "username",
})  # fmt: skip
LEAST_CHARS = 8
PATH = re.compile(r"[~.]{0,2}[/\\]|[A-Za-z]:[/\\]|file:")
NUMBER_OR_FLAG = re.compile(r"[-+]?[\d.,_:]*|true|false|yes|no|on|off|none|null", re.IGNORECASE)
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s@]*", re.IGNORECASE)
"""One without a password in it."""
WORDS = re.compile(r"[A-Za-z]+(?:[-_ ][A-Za-z]+)*|[\w.-]+\.(?:com|org|net|io|local)")


def is_secret_name(name: str) -> bool:
    """Does the name of a variable say that it holds a secret?"""
    words = name.upper().split("_")
    if words[-1] in HARMLESS_ENDINGS or name.upper() in {"PWD", "OLDPWD"}:
        return False
    if "PUBLIC" in words:
        return False
    return not SECRET_WORDS.isdisjoint(words) or any(map(RUN_TOGETHER.search, words))


def is_secret_value(name: str, value: str) -> bool:
    """Is the value of a variable of such a name a secret that can be told from other text?"""
    value = value.strip()
    if len(value) < LEAST_CHARS or value.lower() in COMMON_WORDS or not _may_be_secret(value):
        return False
    if WORDS.fullmatch(value) is None:
        return True
    words = set(name.upper().split("_"))
    is_password = bool(words & PASSWORD_WORDS) or name.upper().endswith(("PASSWORD", "PASSWD"))
    return is_password or (len(value) >= 2 * LEAST_CHARS and not value.islower())


def secret_values(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names and values of the variables that hold secrets."""
    for name, value in environment.items():
        if is_secret_name(name) and is_secret_value(name, value):
            yield name, value.strip()


def is_withheld(name: str, value: str) -> bool:
    """Is this variable kept from child processes, unless somebody asks for it?"""
    if any(fnmatchcase(name, pattern) for pattern in OURS):
        return True
    return is_secret_name(name) and _may_be_secret(value.strip())


def for_children(environment: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """The variables that a child process gets.

    Parameters
    ----------
    passed
        Names, or patterns such as ``MY_*``, of variables that it gets although they look secret.
    """
    wanted = tuple(passed)

    def gets(name: str, value: str) -> bool:
        if name in NEVER_PASSED:
            return False
        return not is_withheld(name, value) or any(fnmatchcase(name, each) for each in wanted)

    return {name: value for name, value in environment.items() if gets(name, value)}


def _may_be_secret(value: str) -> bool:
    """Neither a path, nor a number, nor an address without a password."""
    return not (PATH.match(value) or NUMBER_OR_FLAG.fullmatch(value) or ADDRESS.fullmatch(value))
