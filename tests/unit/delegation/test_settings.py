import pytest

from hermes_jupyter.agents_settings import DelegationSettings, MixtureSettings
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.model_settings import ModelChoice
from hermes_jupyter.settings import load


def loaded(tmp_path, text="", **traits):
    (tmp_path / "config.yaml").write_text(text or "{}")
    return load(traits, {"HERMES_HOME": str(tmp_path)})


def test_the_numbers_are_those_of_the_original(tmp_path):
    delegation = loaded(tmp_path).delegation
    assert delegation == DelegationSettings(
        max_iterations=50, max_concurrent_children=3, max_spawn_depth=1, max_summary_chars=24_000
    )
    assert loaded(tmp_path).mixture == MixtureSettings(
        reference_temperature=0.6, aggregator_temperature=0.4, min_successful_references=1
    )


def test_the_notebook_wins_over_the_file_key_by_key(tmp_path):
    text = "delegation: {max_iterations: 20, max_concurrent_children: 2, subagent_auto_approve: 1}"
    found = loaded(tmp_path, text, delegation={"max_iterations": 9}).delegation
    assert (found.max_iterations, found.max_concurrent_children) == (9, 2)


@pytest.mark.parametrize(
    ("told", "model"),
    [
        ("cheap", ModelChoice(model="cheap")),
        ({"model": "cheap", "provider": "openrouter"},) * 2,
        ("", None),
    ],
)
def test_a_model_of_children_is_a_name_or_says_where_it_is(tmp_path, told, model):
    told = {"model": told} if isinstance(told, str) else told
    wanted = ModelChoice(**model) if isinstance(model, dict) else model
    assert loaded(tmp_path, delegation=told).delegation.model == wanted


def test_models_of_a_mixture_are_read_as_the_original_names_them(tmp_path):
    text = """
moa:
  reference_models: [a, {model: b, provider: openrouter}]
  aggregator_model: c
  reference_temperature: 1
  min_successful_references: 2
"""
    found = loaded(tmp_path, text).mixture
    assert [each.model for each in found.reference_models] == ["a", "b"]
    assert found.aggregator_model == ModelChoice(model="c")
    assert (found.reference_temperature, found.min_successful_references) == (1, 2)


@pytest.mark.parametrize(
    ("traits", "why"),
    [
        ({"delegation": {"max_iterations": 0}}, "max_iterations must be at least 1, not 0"),
        ({"delegation": {"max_concurrent_children": 99}}, "must be from 1 to 32, not 99"),
        ({"delegation": {"max_spawn_depth": "2"}}, "max_spawn_depth must be"),
        ({"delegation": {"max_depth": 2}}, "delegation has no 'max_depth'; it has"),
        ({"mixture": {"models": ["a"]}}, "moa has no 'models'"),
        ({"mixture": {"reference_models": ["a"], "min_successful_references": 2}}, "from 1 to 1"),
        ({"mixture": {"reference_models": ["a"], "reference_temperature": 3}}, "0 to 2, not 3"),
        ({"mixture": {"aggregator_model": ["a", "b"]}}, "must be one model"),
    ],
)
def test_what_cannot_be_is_said_with_the_remedy(tmp_path, traits, why):
    with pytest.raises(ConfigurationError, match=why):
        loaded(tmp_path, **traits)


def test_a_mixture_may_be_switched_off_in_the_file(tmp_path):
    text = "moa: {enabled: false, reference_models: [a]}"
    assert loaded(tmp_path, text).mixture == MixtureSettings()
