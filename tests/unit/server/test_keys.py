import subprocess
import sys

import keyring
import pytest
from keyrings.alt import file

from hermes_jupyter.agent.models.providers import CUSTOM
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.server.keys import key_of


def looked_up(place="hermes/me"):
    return key_of("small", {"name": "small", "keyring": place}, CUSTOM, {})


@pytest.fixture
def stored(tmp_path):
    """A keyring in a file."""
    before, backend = keyring.get_keyring(), file.PlaintextKeyring()
    backend.file_path = str(tmp_path / "keys.cfg")
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def test_a_key_is_found_by_service_and_user(stored):
    stored.set_password("hermes", "me", " sk-of-the-keyring \n")
    assert looked_up() == "sk-of-the-keyring"


def test_without_a_user_it_is_that_of_the_model(stored):
    stored.set_password("hermes", "small", "sk-small")
    assert looked_up("hermes") == "sk-small"


def test_a_key_that_is_not_there_is_told_with_the_command_that_puts_it_there(stored):
    with pytest.raises(ConfigurationError, match="keyring set hermes me"):
        looked_up()


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [
        (keyring.errors.KeyringLocked, "is locked: unlock it"),
        (keyring.errors.NoKeyringError, "pip install keyrings.alt"),
        (keyring.errors.InitError, "does not answer"),
        (RuntimeError, "does not answer"),  # keyrings.alt without its cipher
        (ValueError, "does not answer"),  # its file, and a wrong password
        (EOFError, "does not answer"),  # it asks for one, and nobody is there
        (ModuleNotFoundError, "does not answer"),
    ],
)
def test_a_keyring_that_gives_nothing_is_told_with_the_remedy(stored, problem, remedy, monkeypatch):
    def fail(service, user):
        raise problem("some words")

    monkeypatch.setattr(stored, "get_password", fail)
    with pytest.raises(ConfigurationError, match=remedy) as failed:
        looked_up()
    assert "'small'" in str(failed.value)
    assert "key_env" in str(failed.value)


WITHOUT = """
import sys
sys.modules["keyring"] = None
from hermes_jupyter.agent.models.providers import CUSTOM
from hermes_jupyter.server.keys import key_of
key_of("small", {"keyring": "hermes/me"}, CUSTOM, {})
"""


def test_without_keyring_it_is_said_what_to_install():
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert "hermes-jupyter[keyring]" in ran.stderr.splitlines()[-1]
