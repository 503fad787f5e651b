"""Which model is asked, where, and with whose key."""

import pytest

from hermes_jupyter.agent.models.choice import EmbeddedModel, choose, fall_back, may_see
from hermes_jupyter.errors import ConfigurationError, ModelError
from hermes_jupyter.model_settings import ModelChoice
from hermes_jupyter.settings import Settings

KEYS = {"OPENAI_API_KEY": "sk-openai", "OPENROUTER_API_KEY": "sk-or", "MINE": "sk-mine"}


def where(model):
    return model._endpoint.base_url, model._endpoint.api_key


def settings(**options):
    return Settings(keys=KEYS, **options)


def test_a_provider_needs_its_name_only():
    model = choose("", settings(model="x", provider="openrouter", api_key="sk-openai"))
    assert where(model) == ("https://openrouter.ai/api/v1", "sk-or")
    assert model.provider.name == "openrouter"


def test_an_address_of_ones_own_gets_ones_own_key():
    model = choose("x", settings(base_url="http://h:1/v1", api_key="sk-own"))
    assert where(model) == ("http://h:1/v1", "sk-own")


def test_without_an_address_openai_is_asked():
    assert where(choose("", settings(api_key="sk-openai"))) == (
        "https://api.openai.com/v1",
        "sk-openai",
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ModelChoice(model="y"), ("https://api.mistral.ai/v1", "")),
        (ModelChoice(model="y", provider="openrouter"), ("https://openrouter.ai/api/v1", "sk-or")),
        (ModelChoice(model="y", base_url="http://h:2/v1"), ("http://h:2/v1", "")),
        (ModelChoice(model="y", base_url="http://h:2/v1", key_env="MINE"),
         ("http://h:2/v1", "sk-mine")),
        (ModelChoice(model="y", provider="openai"), ("https://api.openai.com/v1", "sk-openai")),
    ],
)  # fmt: skip
def test_no_key_goes_to_a_server_that_it_is_not_for(choice, expected):
    assert where(fall_back(choice, settings(model="x", provider="mistral"))) == expected


def test_the_embedded_model_can_be_fallen_back_to():
    choice = ModelChoice(model="local")
    model = fall_back(choice, settings(api_key="k", local_model="smollm2-135m"))
    assert isinstance(model, EmbeddedModel)
    assert model.price.of is not None


def test_an_unknown_provider_needs_an_address():
    with pytest.raises(ConfigurationError, match="Say its base_url"):
        choose("x", settings(provider="nobody"))
    with pytest.raises(ModelError, match="needs an endpoint"):
        choose("x", Settings())


OTHER = ModelChoice(model="eyes", vision=True)


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, False),
        ({"api_key": "sk"}, True),
        ({"model": "local", "api_key": "sk"}, False),
        ({"model": "gpt-oss-20b", "base_url": "http://h:1/v1"}, False),
        ({"model": "gpt-oss-20b", "base_url": "http://h:1/v1", "vision": "on"}, True),
        ({"model": "gpt-5", "api_key": "sk", "vision": "off"}, False),
        ({"model": "gpt-5", "api_key": "sk", "vision": "off", "vision_model": OTHER}, True),
        ({"vision_model": OTHER}, True),
        ({"model": "qwen2.5vl:3b", "provider": "ollama"}, False),
        ({"model": "qwen2.5vl:3b", "provider": "ollama", "profile": "full"}, True),
    ],
)
def test_whether_images_are_seen_is_known_before_a_model_is_asked(options, seen):
    assert may_see(settings(**options)) is seen


@pytest.mark.parametrize(("vision", "seen"), [("auto", False), ("on", True), ("off", False)])
def test_the_user_says_whether_a_model_sees(vision, seen):
    model = choose("deepseek-chat", settings(base_url="http://h:1/v1", vision=vision))
    assert model.sees is seen
