"""Where the server's keys come from: its configuration, its environment, the system's keyring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_jupyter.agent.models.providers import Provider
from hermes_jupyter.errors import ConfigurationError

OTHERWISE = "or set key_env instead, and that variable where the server starts"


def key_of(name: str, entry: Mapping[str, Any], provider: Provider, env: Mapping[str, str]) -> str:
    """The key of an entry of ``HermesServer.models``; empty if its provider needs none.

    Raises
    ------
    ConfigurationError
        If it is not there.
    """
    if entry.get("key"):
        return str(entry["key"]).strip()
    if entry.get("keyring"):
        return _from_keyring(name, str(entry["keyring"]))
    wanted = [str(entry["key_env"])] if entry.get("key_env") else [*provider.keys]
    found = next((env[each] for each in wanted if env.get(each)), "")
    if not found and not provider.is_local:
        where = " or ".join(wanted) or "key_env"
        raise _missing(
            name,
            f"there is no key: set {where} where the server starts, or key or keyring in its "
            "configuration",
        )
    return found.strip()


def _from_keyring(name: str, place: str) -> str:
    try:
        import keyring
        from keyring.errors import KeyringError, KeyringLocked, NoKeyringError
    except ImportError:
        said = "to read the keyring, pip install 'hermes-jupyter[keyring]'"
        raise _missing(name, said) from None
    service, _, user = place.partition("/")
    user = user or name
    try:
        found = keyring.get_password(service, user)
    except KeyringLocked:
        said = f"the keyring is locked: unlock it for the user who starts the server, {OTHERWISE}"
        raise _missing(name, said) from None
    except NoKeyringError:
        said = f"this system has no keyring: install one (pip install keyrings.alt), {OTHERWISE}"
        raise _missing(name, said) from None
    # The last four: backends whose own library or file is missing or broken, or that ask in vain.
    except (KeyringError, RuntimeError, ImportError, OSError, ValueError, EOFError) as problem:
        said = f"the keyring does not answer ({problem}): mend it, {OTHERWISE}"
        raise _missing(name, said) from None
    if not found:
        said = f"the keyring has no {place!r}: keyring set {service} {user}, {OTHERWISE}"
        raise _missing(name, said)
    return str(found).strip()


def _missing(name: str, said: str) -> ConfigurationError:
    return ConfigurationError(f"HermesServer.models: {name!r}: {said}")
