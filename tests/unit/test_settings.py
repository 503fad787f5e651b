import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import load


def test_traits_win_over_environment_and_file(tmp_path):
    (tmp_path / "config.yaml").write_text("model: {default: from-file, base_url: http://f/v1}\n")
    env = {"HERMES_HOME": str(tmp_path), "OPENAI_BASE_URL": "http://e/v1"}
    settings = load({"base_url": "http://t/v1", "model": ""}, env)
    assert (settings.model, settings.base_url) == ("from-file", "http://t/v1")


def test_the_original_agents_file_is_understood(tmp_path):
    (tmp_path / "config.yaml").write_text("model: some/model\nagent: {max_turns: 12}\nweb: {}\n")
    settings = load({}, {"HERMES_HOME": str(tmp_path)})
    assert (settings.model, settings.max_steps) == ("some/model", 12)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "config.yaml").write_text("model: [unclosed\n")
    with pytest.raises(ConfigurationError, match=r"config\.yaml"):
        load({}, {"HERMES_HOME": str(tmp_path)})


@pytest.mark.parametrize("wrong", [{"approvals": "maybe"}, {"max_steps": -1}, {"tool_timeout": -2}])
def test_a_value_that_is_not_allowed_names_itself(wrong, tmp_path):
    (value,) = wrong.values()
    with pytest.raises(ConfigurationError, match=str(value)):
        load(wrong, {"HERMES_HOME": str(tmp_path)})


def test_the_key_does_not_show_itself(tmp_path):
    settings = load({}, {"HERMES_HOME": str(tmp_path), "OPENAI_API_KEY": "secret"})
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("told", "share"),
    [("{enabled: auto, threshold_pct: 25}", 25), ("{enabled: off}", 0), ("off", 0),
     ("{enabled: 'off', threshold_pct: 25}", 0), ("{enabled: on}", 0.01), ("{}", 10),
     ("{threshold_pct: 0}", 0)],
)  # fmt: skip
def test_the_original_agents_choice_of_tool_search_is_understood(told, share, tmp_path):
    (tmp_path / "config.yaml").write_text(f"tools: {{tool_search: {told}}}\n")
    assert load({}, {"HERMES_HOME": str(tmp_path)}).tool_search_share == share


@pytest.mark.parametrize(
    "wrong",
    [{"tool_search_share": 101}, {"tool_search_share": -1}, {"tool_search_share": "much"},
     {"tool_search_share": float("nan")}, {"tool_limit": 5}, {"tool_limit": -1}],
)  # fmt: skip
def test_a_limit_of_tools_that_makes_no_sense_names_itself(wrong, tmp_path):
    (name,) = wrong
    with pytest.raises(ConfigurationError, match=name):
        load(wrong, {"HERMES_HOME": str(tmp_path)})


def test_an_unknown_choice_of_tool_search_is_named(tmp_path):
    (tmp_path / "config.yaml").write_text("tools: {tool_search: {enabled: maybe}}\n")
    with pytest.raises(ConfigurationError, match="maybe"):
        load({}, {"HERMES_HOME": str(tmp_path)})


def test_the_window_is_taken_from_the_file_and_must_be_a_number(tmp_path):
    (tmp_path / "config.yaml").write_text("model: {default: m, context_length: 32768}\n")
    env = {"HERMES_HOME": str(tmp_path)}
    assert load({}, env).context_window == 32_768
    for wrong in (-1, 2.5, "many"):
        with pytest.raises(ConfigurationError, match="context_window"):
            load({"context_window": wrong}, env)
