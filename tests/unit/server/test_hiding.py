from types import SimpleNamespace

import pytest

from hermes_jupyter.server.hiding import hidden

KEY = "sk-mine-0123456789"
ENV = {
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-another",
    "MY_KEY": KEY,
    "SAME_KEY": f"Bearer {KEY}",
    "AWS_SECRET": "x",
    "PATH": "/bin",
}
MODELS = [{"name": "m", "base_url": "https://models.example/v1", "key_env": "MY_KEY"}]


def left(keys=(KEY,), models=MODELS, hide_keys=None, more=()):
    settings = SimpleNamespace(models=models, hide_keys=hide_keys, hidden_variables=[*more])
    return {*ENV} - hidden(ENV, settings, keys)


def test_the_keys_of_the_models_are_hidden_without_a_setting_under_any_name():
    assert left() == {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET", "PATH"}


def test_they_are_hidden_even_if_the_models_cannot_be_offered():
    assert "MY_KEY" not in left(keys=())
    assert "OPENAI_API_KEY" not in left(keys=(), models=[{"name": "m", "provider": "openai"}])


def test_the_keys_of_all_providers_are_hidden_where_that_is_wanted():
    assert left(hide_keys=True, more=["AWS_*"]) == {"PATH"}


def test_who_says_so_leaves_them_there():
    assert left(hide_keys=False) == {*ENV}
    assert left(hide_keys=False, more=["MY_*"]) == {*ENV} - {"MY_KEY"}


def test_a_server_without_models_hides_nothing_by_itself():
    assert left(keys=(), models=[]) == {*ENV}


@pytest.mark.parametrize("word", ["", "none", "/bin"])
def test_a_word_that_is_no_secret_hides_nothing(word):
    assert "PATH" in left(keys=[word])
