import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import load
from hermes_jupyter.terminal_settings import terminal_settings


def test_the_original_agents_file_says_the_same_as_its_environment():
    told = {
        "backend": "docker",
        "cwd": ".",
        "docker_image": "debian:12",
        "docker_volumes": ["/a:/b"],
        "container_persistent": True,
        "ssh_port": 2222,
        "modal_image": None,
        "env_passthrough": ["X"],
    }
    assert terminal_settings(told, {}) == {
        "TERMINAL_ENV": "docker",
        "TERMINAL_DOCKER_IMAGE": "debian:12",
        "TERMINAL_DOCKER_VOLUMES": '["/a:/b"]',
        "TERMINAL_CONTAINER_PERSISTENT": "true",
        "TERMINAL_SSH_PORT": "2222",
    }


def test_the_environment_wins_over_the_file(tmp_path):
    (tmp_path / "config.yaml").write_text("terminal: {backend: docker, ssh_host: far}\n")
    env = {"HERMES_HOME": str(tmp_path), "TERMINAL_ENV": "ssh", "MODAL_TOKEN_ID": "ak", "X": "y"}
    assert load({}, env).terminal == {
        "TERMINAL_ENV": "ssh",
        "TERMINAL_SSH_HOST": "far",
        "MODAL_TOKEN_ID": "ak",
    }


def test_secrets_in_it_do_not_show_themselves(tmp_path):
    env = {"HERMES_HOME": str(tmp_path), "TERMINAL_SSH_PASSWORD": "very secret"}
    assert "very secret" not in repr(load({}, env))


def test_a_word_where_a_mapping_must_be_is_named():
    with pytest.raises(ConfigurationError, match="'docker'"):
        terminal_settings("docker", {})


def test_trust_in_isolation_is_said_in_the_file_and_is_off_otherwise(tmp_path):
    env = {"HERMES_HOME": str(tmp_path)}
    assert load({}, env).isolated == "ask"
    (tmp_path / "config.yaml").write_text("security: {isolated: run}\n")
    assert load({}, env).isolated == "run"
    with pytest.raises(ConfigurationError, match="isolated"):
        load({"isolated": "maybe"}, env)
