import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import Settings, load


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


def approvals(tmp_path, text, traits=None):
    (tmp_path / "config.yaml").write_text(text)
    return load(traits or {}, {"HERMES_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("told", "mode"), [("manual", "ask"), ("smart", "auto"), ("deny", "deny"), ("edits", "edits")]
)
def test_the_original_agents_modes_are_understood(told, mode, tmp_path):
    assert approvals(tmp_path, f"approvals: {{mode: {told}}}\n").approvals == mode


@pytest.mark.parametrize("told", ["off", "'off'", "false"])
def test_no_file_switches_approvals_off(told, tmp_path):
    settings = approvals(tmp_path, f"approvals: {{mode: {told}}}\n")
    assert settings.approvals == "ask"
    assert "not switched off by a file" in settings.notices[0]
    assert load({"approvals": "off"}, {"HERMES_HOME": str(tmp_path)}).approvals == "off"


def test_rules_of_the_file_and_of_the_notebook_hold_together(tmp_path):
    text = (
        "approvals:\n  deny: ['git push --force*', 'effect:privilege', 'terminal(rm *)']\n"
        "  ask: ['@web']\ncommand_allowlist: ['make clean']\n"
    )
    settings = approvals(tmp_path, text, {"deny": ["write_file"], "allow": ["todo"]})
    assert settings.deny == (
        "*(git push --force*)", "effect:privilege", "terminal(rm *)", "write_file",
    )  # fmt: skip
    assert settings.allow == ("terminal(make clean)", "todo")
    assert settings.ask == ("@web",)


@pytest.mark.parametrize(
    "text",
    ["approvals: {deny: {a: b}}", "approvals: {ask: [7]}", "command_allowlist: 7",
     "approvals: {allow: ['']}", "approvals: {mode: on}", "approvals: {mode: sometimes}"],
)  # fmt: skip
def test_a_rule_or_mode_that_cannot_be_read_is_an_error(text, tmp_path):
    with pytest.raises(ConfigurationError):
        approvals(tmp_path, text + "\n")


def test_the_scanner_of_hermes_agent_is_read_from_its_file(tmp_path):
    keys = "tirith_path: ~/t, tirith_timeout: 2, tirith_fail_open: false"
    (tmp_path / "config.yaml").write_text(f"security: {{{keys}}}", encoding="utf-8")
    found = load(env={"HERMES_HOME": str(tmp_path)})
    assert (found.scanner, found.scanner_timeout, found.scanner_fail_open) == ("~/t", 2, False)


@pytest.mark.parametrize(
    ("told", "scanner"),
    [("true", "tirith"), ("false", "off"), ("false, tirith_path: x", "off")],
)
def test_the_scanner_can_be_asked_for_and_switched_off(tmp_path, told, scanner):
    text = f"security: {{tirith_enabled: {told}}}"
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    assert load(env={"HERMES_HOME": str(tmp_path)}).scanner == scanner


def test_containment_is_off_until_somebody_asks_for_it(tmp_path):
    env = {"HERMES_HOME": str(tmp_path)}
    assert load(env=env).containment == "off"
    (tmp_path / "config.yaml").write_text(
        "security: {containment: auto, network: off}", encoding="utf-8"
    )
    assert (load(env=env).containment, load(env=env).network) == ("auto", "off")
    assert load({"containment": "off"}, env).containment == "off"


@pytest.mark.parametrize(
    "wrong", [{"containment": "maybe"}, {"network": "some"}, {"scanner_timeout": -1.0}]
)
def test_odd_bounds_are_refused(tmp_path, wrong):
    with pytest.raises(ConfigurationError):
        load(wrong, {"HERMES_HOME": str(tmp_path)})


def test_models_are_read_in_the_words_of_hermes_agents_files(tmp_path):
    (tmp_path / "config.yaml").write_text(
        """
model: {provider: openrouter, default: big, api_mode: codex_responses}
providers:
  openrouter: {stale_timeout_seconds: 45, request_timeout_seconds: 90}
fallback_providers:
  - {provider: anthropic, model: claude-haiku-4-5}
  - {provider: custom, model: q, base_url: "http://h:1/v1", key_env: MY_KEY, context_length: 9}
agent: {api_max_retries: 5, max_cost: 0.5, max_tokens: 100000}
prices: {big: {input: 1, output: 2}}
""",
        encoding="utf-8",
    )
    env = {"HERMES_HOME": str(tmp_path), "OPENROUTER_API_KEY": "or", "MY_KEY": "", "HOME": "/"}
    settings = load(env=env)
    assert (settings.provider, settings.model, settings.api) == ("openrouter", "big", "responses")
    assert (settings.stall_timeout, settings.first_token_timeout) == (45, 90)
    assert [each.model for each in settings.fallback_models] == ["claude-haiku-4-5", "q"]
    assert settings.fallback_models[1].context_window == 9
    assert settings.keys == {"OPENROUTER_API_KEY": "or"}
    assert (settings.max_tries, settings.max_cost, settings.max_tokens) == (5, 0.5, 100_000)
    assert settings.prices == {"big": {"input": 1.0, "output": 2.0}}
    assert settings.has_endpoint
    assert "or" not in repr(settings).split("'")


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"fallback_models": [{}]}, "needs a name"),
        ({"fallback_models": [3]}, "a name or a mapping"),
        ({"prices": {"m": {"input": -1, "output": 2}}}, "the price of 'm'"),
        ({"prices": {"m": {"input": 1}}}, "the price of 'm'"),
        ({"max_cost": float("nan")}, "max_cost"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"api": "soap"}, "chat or responses"),
        ({"max_tries": 0}, "max_tries"),
    ],
)
def test_choices_about_models_that_make_no_sense_are_refused(tmp_path, traits, message):
    with pytest.raises(ConfigurationError, match=message):
        load(traits, env={"HERMES_HOME": str(tmp_path)})


def test_a_fallback_may_be_a_name_alone(tmp_path):
    settings = load({"fallback_models": ["gpt-5-mini", "local"]}, {"HERMES_HOME": str(tmp_path)})
    assert [each.model for each in settings.fallback_models] == ["gpt-5-mini", "local"]


@pytest.mark.parametrize("profile", ["auto", "full", "small", "tiny"])
def test_the_profile_of_a_model_can_be_chosen(tmp_path, profile):
    (tmp_path / "config.yaml").write_text(f"agent: {{profile: {profile}}}")
    assert load({}, {"HERMES_HOME": str(tmp_path)}).profile == profile


def test_a_profile_that_is_none_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="profile must be one of auto, full, small, tiny"):
        load({"profile": "huge"}, {"HERMES_HOME": str(tmp_path)})


@pytest.mark.parametrize("space", [-1, 1.5, "much", True])
def test_room_for_checkpoints_is_a_number_of_megabytes(space):
    with pytest.raises(ConfigurationError, match="checkpoint_space"):
        Settings(checkpoint_space=space)


def test_room_for_checkpoints_may_stand_in_the_file(tmp_path):
    (tmp_path / "config.yaml").write_text("checkpoints: {space_mb: 0, enabled: false}\n")
    assert load(env={"HERMES_HOME": str(tmp_path)}).checkpoint_space == 0


@pytest.mark.parametrize(
    ("said", "replay"),
    [("", ""), ("0", ""), ("off", ""), ("1", "record"), ("True", "record"), ("tools", "tools")],
)
def test_a_whole_notebook_is_replayed_by_a_variable(said, replay, tmp_path):
    env = {"HERMES_HOME": str(tmp_path), "HERMES_REPLAY": said, "HERMES_RECORDINGS": "x.ipynb"}
    settings = load({}, env)
    assert (settings.replay, settings.recordings, settings.record) == (replay, "x.ipynb", False)


def test_a_whole_notebook_is_recorded_by_a_variable(tmp_path):
    assert load({}, {"HERMES_HOME": str(tmp_path), "HERMES_RECORD": "1"}).record


@pytest.mark.parametrize(
    ("env", "traits", "said"),
    [
        ({"HERMES_REPLAY": "maybe"}, {}, "HERMES_REPLAY must be 1 or 0, or tools, not 'maybe'"),
        ({"HERMES_RECORD": "tools"}, {}, "HERMES_RECORD must be 1 or 0, not 'tools'"),
        ({}, {"keep_answers": "ever"}, "keep_answers must be one of prompt, context, never"),
        ({}, {"replay": "1"}, "replay must be one of record, tools, not '1'"),
    ],
)
def test_words_about_replays_that_mean_nothing_are_refused(env, traits, said, tmp_path):
    with pytest.raises(ConfigurationError, match=said):
        load(traits, {"HERMES_HOME": str(tmp_path), **env})


@pytest.mark.parametrize(
    ("text", "model", "vision"),
    [
        ("auxiliary: {vision: {provider: openrouter, model: a/b-vl}}", "a/b-vl", "auto"),
        ("auxiliary: {vision: {provider: auto, model: b-vl, timeout: 9}}", "b-vl", "auto"),
        ("auxiliary: {vision: {provider: auto}}", None, "auto"),
        ("model: {default: m, vision: true}", None, "on"),
        ("model: {default: m, vision: false}", None, "off"),
    ],
)
def test_who_sees_images_stands_in_the_words_of_hermes_agents_file(tmp_path, text, model, vision):
    (tmp_path / "config.yaml").write_text(text)
    settings = load({}, {"HERMES_HOME": str(tmp_path)})
    found = settings.vision_model
    assert (found and found.model, settings.vision) == (model, vision)
    assert found is None or found.vision is True


@pytest.mark.parametrize("told", ["gpt-5-mini", {"model": "gpt-5-mini", "provider": "openai"}])
def test_who_looks_at_images_can_be_said_in_a_notebook(tmp_path, told):
    env = {"HERMES_HOME": str(tmp_path)}
    assert load({"vision_model": told}, env).vision_model.model == "gpt-5-mini"
    assert load({"vision_model": ""}, env).vision_model is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"vision": "maybe"}, "vision must be one of"), ({"vision_model": 5}, "a name or a mapping"),
     ({"vision_model": {"model": "m", "vision": "yes"}}, "true or false")],
)  # fmt: skip
def test_words_about_images_that_mean_nothing_are_refused(tmp_path, wrong, said):
    with pytest.raises(ConfigurationError, match=said):
        load(wrong, {"HERMES_HOME": str(tmp_path)})
