"""Which tools a choice of toolsets comes to."""

from __future__ import annotations

import pytest

from tools import toolsets
from tools.toolsets import Toolset, UnknownToolset, resolve_toolset, resolve_toolsets

FILE = {"patch", "read_file", "search_files", "write_file"}
TERMINAL = {"process", "terminal"}
KEPT = {"read_result", "session_search"}
VARIABLES = {"inspect_variable", "list_variables", "run_python", "save_variable"}
CELLS = {"delete_cell", "edit_cell", "insert_cell", "move_cell", "read_cells", "run_cell"}
OTHERS = {"delegate_task", "mixture_of_agents", "vision_analyze"}
CODE = VARIABLES | CELLS | OTHERS | {"execute_code"}
SKILLS = {"skills_list", "skill_view", "skill_manage"}


@pytest.fixture
def database(registry):
    """Registers two tools of a toolset that is written down nowhere."""
    for name in "database_query", "database_tables":
        registry.register(name, "database", {}, lambda args, **_: "{}")
    return {"database_query", "database_tables"}


@pytest.fixture(autouse=True)
def no_other_tools(registry, monkeypatch):
    """Whatever other tests registered does not count here."""
    monkeypatch.setattr(registry, "_tools", {})


def test_toolset_is_its_tools():
    assert resolve_toolset("terminal") == TERMINAL


def test_toolset_includes_others():
    others = {"todo", "clarify", "memory"}
    assert resolve_toolset("notebook") == FILE | TERMINAL | KEPT | SKILLS | CODE | others
    assert resolve_toolset("safe") == {"read_file", "search_files", "todo", "clarify"}


def test_circle_of_toolsets_ends(monkeypatch):
    monkeypatch.setitem(toolsets.TOOLSETS, "a", Toolset("", ("one",), includes=("b",)))
    monkeypatch.setitem(toolsets.TOOLSETS, "b", Toolset("", ("two",), includes=("a", "b")))
    assert resolve_toolset("a") == resolve_toolset("b") == {"one", "two"}


def test_every_included_toolset_exists():
    included = {name for toolset in toolsets.TOOLSETS.values() for name in toolset.includes}
    assert included <= set(toolsets.TOOLSETS)


def test_registration_alone_makes_a_toolset(database):
    assert resolve_toolset("database") == database
    assert "database" in toolsets.toolset_names()


def test_tool_registered_under_a_written_toolset_belongs_to_it(registry):
    registry.register("word_count", "file", {}, lambda args, **_: "{}")
    assert "word_count" in resolve_toolset("notebook")


@pytest.mark.parametrize("name", ["all", "*"])
def test_all_is_everything(database, name):
    assert resolve_toolset(name) == resolve_toolset("notebook") | database


@pytest.mark.parametrize("name", ["read_file", "database_query"])
def test_name_of_a_tool_stands_for_the_tool(database, name):
    assert resolve_toolset(name) == {name}


@pytest.fixture
def web(registry):
    """The tools of a toolset that is known by name, registered by whoever has them."""
    for name in "web_search", "web_extract", "delegate_task", "memory", "cronjob", "send_message":
        toolset = "web" if name.startswith("web") else f"mine_{name}"
        registry.register(name, toolset, {}, lambda args, **_: "{}")
    return {"web_search", "web_extract"}


PRESETS = ("notebook", "headless", "subagent", "read-only")


def test_presets_differ_in_what_needs_a_person_and_in_what_a_child_must_not(web):
    notebook, headless, subagent, reader = (resolve_toolsets(None, default=p) for p in PRESETS)
    assert notebook >= FILE | TERMINAL | web | {"clarify", "delegate_task", "memory", "cronjob"}
    assert headless == notebook - {"clarify"}
    more = {"todo", "execute_code", "mixture_of_agents", "vision_analyze"}
    assert subagent == FILE | TERMINAL | KEPT | SKILLS | web | more
    assert resolve_toolset("read-only") == {"read_file", "search_files"}
    assert resolve_toolset("read-only") <= reader


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_may_be_named_like_any_toolset(preset):
    assert resolve_toolset(preset) == resolve_toolsets([preset]) <= resolve_toolset("notebook")


@pytest.mark.parametrize("former", toolsets.FORMER)
def test_former_names_of_toolsets_are_understood(former, web):
    assert resolve_toolset(former) == resolve_toolset(toolsets.FORMER[former])


@pytest.mark.parametrize("platform", toolsets.PLATFORMS)
def test_defaults_of_elsewhere_bring_the_default_and_the_users_own(platform, database):
    preset = toolsets.PLATFORMS[platform]
    assert resolve_toolset(platform) == resolve_toolset(preset)
    assert resolve_toolsets([platform]) == resolve_toolset(preset) | database


def test_toolset_for_messages_from_strangers_runs_nothing(web, database):
    assert resolve_toolsets(["hermes-webhook"]) == web


@pytest.mark.parametrize("name", [*toolsets.KNOWN, "web_search", "hermes-cli", "moa_tools"])
def test_known_name_without_tools_here_is_no_error(name):
    assert resolve_toolset(name) <= resolve_toolset("notebook")
    assert resolve_toolsets(["todo"], [name]) <= {"todo"}


def test_known_toolset_is_what_of_it_is_registered(web):
    assert resolve_toolset("web") == web
    assert resolve_toolset("search") == {"web_search"}
    assert resolve_toolset("debugging") == FILE | TERMINAL | web
    assert resolve_toolset("web_search") == {"web_search"}


def test_what_is_understood_but_not_here_can_be_told(web, registry):
    registry.register("read_file", "file", {}, lambda args, **_: "{}")
    assert toolsets.absent(["web", "file", "browser_tools", "tts"]) == ["browser_tools", "tts"]


def test_toolset_of_the_user_wins_over_a_former_name(registry):
    registry.register("crawl", "web_tools", {}, lambda args, **_: "{}")
    assert resolve_toolset("web_tools") == {"crawl"}


def test_every_former_name_and_platform_leads_somewhere():
    known = {*toolsets.KNOWN, *toolsets.TOOLSETS}
    assert known >= {*toolsets.FORMER.values(), *toolsets.PLATFORMS.values()}
    for toolset in [*toolsets.KNOWN.values(), *toolsets.TOOLSETS.values()]:
        assert known >= {*toolset.includes, *toolset.without}


def test_default_is_the_notebook_and_what_was_registered_from_outside(database):
    assert resolve_toolsets() == resolve_toolset("notebook") | database


def test_enabled_toolsets_are_united():
    assert resolve_toolsets(["terminal", "read_file"]) == TERMINAL | {"read_file"}
    assert resolve_toolsets("terminal, read_file") == TERMINAL | {"read_file"}
    assert resolve_toolsets([]) == frozenset()


@pytest.mark.parametrize(
    ("enabled", "disabled", "left"),
    [
        (["notebook"], ["file", "terminal", "skills"], {"todo", "clarify", "memory"} | KEPT | CODE),
        (["file", "read-only"], ["read-only"], {"patch", "write_file"}),
        (["file"], ["patch"], FILE - {"patch"}),
        (["terminal"], "terminal_tools", set()),
        (None, ["*"], set()),
        (["*"], ["all"], set()),
        (["all"], ["file", "terminal", "todo"], {"clarify", "memory"} | KEPT | SKILLS | CODE),
        (["read_file"], ["file"], set()),
        (["read_file", "file"], ["read_file"], FILE - {"read_file"}),
        (["terminal", "process"], ["process"], {"terminal"}),
        (
            ["safe", "debugging"],
            ["read-only"],
            {"todo", "clarify", "patch", "write_file"} | TERMINAL,
        ),
        (["hermes-cli"], ["hermes-acp"], {"clarify"}),
        (["notebook"], ["notebook"], set()),
    ],
)
def test_a_disable_always_wins(enabled, disabled, left):
    assert resolve_toolsets(enabled, disabled) == left


@pytest.mark.parametrize("disabled", ["a", "b", "one,two"])
def test_a_disable_wins_in_a_circle_too(monkeypatch, disabled):
    monkeypatch.setitem(toolsets.TOOLSETS, "a", Toolset("", ("one",), includes=("b",)))
    monkeypatch.setitem(toolsets.TOOLSETS, "b", Toolset("", ("two",), includes=("a",)))
    assert resolve_toolsets(["a", "b", "one"], disabled) == frozenset()


def test_circle_of_what_is_left_out_ends(monkeypatch):
    monkeypatch.setitem(toolsets.TOOLSETS, "a", Toolset("", ("one",), includes=("b",)))
    monkeypatch.setitem(toolsets.TOOLSETS, "b", Toolset("", ("two",), without=("a",)))
    assert {"one"} <= resolve_toolset("a") <= {"one", "two"}
    assert resolve_toolset("b") <= {"two"}


@pytest.mark.parametrize("by", ["mine", "terminal", "web", "web_search"])
def test_a_disable_wins_over_a_tool_that_came_under_another_toolset(registry, by):
    registry.register("terminal", "mine", {}, lambda args, **_: "{}")
    registry.register("web_search", "mine", {}, lambda args, **_: "{}")
    left = resolve_toolsets(["mine", "terminal", "web"], [by])
    gone = {"terminal": {"terminal"}, "mine": {"terminal", "web_search"}}
    assert not left & gone.get(by, {"web_search"})


@pytest.mark.parametrize(("enabled", "disabled"), [(["flie"], None), (None, ["flie"])])
def test_unknown_name_is_an_error_that_helps(enabled, disabled):
    with pytest.raises(
        UnknownToolset, match=r"named 'flie'.*'file'.*Toolsets: cells, clarify, code_execution, "
    ):
        resolve_toolsets(enabled, disabled)


def test_a_small_model_is_offered_few_tools_and_the_users_own(database):
    names = resolve_toolsets(default="small")
    assert {"read_file", "patch", "terminal", "database_query"} <= names
    assert not {"todo", "clarify", "memory", "run_python", "process"} & names
