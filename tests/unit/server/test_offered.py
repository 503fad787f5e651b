import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.server.offered import offered

ENV = {"OPENAI_API_KEY": "sk-openai", "MY_KEY": "sk-mine"}


def one(**entry):
    (found,) = offered([entry], {}, ENV).values()
    return found


def test_a_provider_brings_its_address_and_the_variable_of_its_key():
    found = one(name="gpt-5-mini", provider="openai")
    assert (found.base_url, found.key) == ("https://api.openai.com/v1", "sk-openai")
    assert found.price is not None
    assert "sk-openai" not in repr(found)


def test_a_key_may_be_named_or_said():
    where = {"base_url": "https://models.example/v1"}
    assert one(name="m", key_env="MY_KEY", **where).key == "sk-mine"
    assert one(name="m", key="sk-said", **where).key == "sk-said"


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"name": "m"},
        {"name": "m", "provider": "nobody"},
        {"name": "m", "provider": "anthropic"},  # its key is not there
        {"name": "m", "base_url": "https://models.example/v1", "key_env": "NOT_SET"},
        {"name": "m", "provider": "openai", "api": "soap"},
        {"name": "m", "provider": "openai", "kye": "sk"},
    ],
)
def test_an_entry_that_cannot_work_is_refused(entry):
    with pytest.raises(ConfigurationError):
        one(**entry)


def test_two_models_have_two_names():
    with pytest.raises(ConfigurationError, match="same name"):
        offered([{"name": "m", "provider": "openai"}] * 2, {}, ENV)


def test_a_local_server_needs_no_key():
    assert one(name="m", base_url="http://127.0.0.1:11434/v1").key == ""
