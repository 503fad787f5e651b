from __future__ import annotations

import pytest

from tools.secrets.variables import for_children, is_secret_name, secret_values


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "DB_PASS", "my_pat",
     "BASIC_AUTH", "GOOGLE_CREDENTIALS", "SECRET", "APIKEY", "MYTOKEN", "SESSION_COOKIE"],
)  # fmt: skip
def test_a_name_says_that_it_holds_a_secret(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "PWD", "OLDPWD", "KEYBOARD", "TOKENIZERS_PARALLELISM", "SSH_AUTH_SOCK",
     "AWS_PROFILE", "MONKEY", "PASSAGE", "SSH_PUBLIC_KEY", "TOKEN_URL", "KEY_FILE", "COMPASS",
     "AUTHOR", "GPG_AGENT_INFO", "VIRTUAL_ENV"],
)  # fmt: skip
def test_a_name_that_only_looks_like_it_does_not(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "value",
    ["", "short", "/run/agent.1", "~/key.pem", r"C:\keys\a.pem", "1234567890", "production",
     "https://example.org/auth", "true", "primary key", "localhost", "keys.example.com"],
)  # fmt: skip
def test_a_plain_value_is_no_secret_whatever_its_name(value):
    assert list(secret_values({"SOME_KEY": value})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("SOME_KEY", "a1b2c3d4"), ("DB_PASSWORD", "correcthorse"), ("X_TOKEN", "https://u:p@host/x"),
     ("X_SECRET", "AbCdEfGhIjKlMnOpQr")],
)  # fmt: skip
def test_a_secret_value_is_found(name, value):
    assert list(secret_values({name: value})) == [(name, value)]


def test_children_get_ordinary_variables_only():
    ordinary = {
        "PATH": "/bin", "HOME": "/h", "VIRTUAL_ENV": "/v", "CONDA_PREFIX": "/c", "LANG": "C",
        "AWS_PROFILE": "dev", "SSH_AUTH_SOCK": "/run/a",
        "GOOGLE_APPLICATION_CREDENTIALS": "/k.json",
    }  # fmt: skip
    ours = {
        "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "HERMES_HOME": "/x", "JUPYTER_TOKEN": "t",
        "JPY_PARENT_PID": "1", "MODAL_TOKEN_ID": "m", "DAYTONA_TARGET": "d", "SUDO_PASSWORD": "p",
        "MY_SECRET": "s",
    }  # fmt: skip
    assert for_children({**ordinary, **ours}) == ordinary


def test_what_somebody_asks_for_is_passed_but_never_the_password_of_sudo():
    environment = {"GITHUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "k", "SUDO_PASSWORD": "p"}
    passed = for_children(environment, ["GITHUB_TOKEN", "AWS_*", "*"])
    assert passed == {"GITHUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "k"}
