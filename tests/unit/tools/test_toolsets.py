"""Which tools a choice of toolsets comes to."""

from __future__ import annotations

import pytest

from tools import toolsets
from tools.toolsets import Toolset, UnknownToolset, resolve_toolset, resolve_toolsets

FILE = {"patch", "read_file", "search_files", "write_file"}
TERMINAL = {"process", "terminal"}


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
    assert resolve_toolset("notebook") == FILE | TERMINAL | {"todo", "clarify"}
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


@pytest.mark.parametrize(
    ("former", "name"),
    [("file_tools", "file"), ("terminal_tools", "terminal"), ("hermes-cli", "notebook")],
)
def test_former_names_still_work(former, name):
    assert resolve_toolset(former) == resolve_toolset(name)


def test_default_is_the_notebook_and_what_was_registered_from_outside(database):
    assert resolve_toolsets() == resolve_toolset("notebook") | database


def test_enabled_toolsets_are_united():
    assert resolve_toolsets(["terminal", "read_file"]) == TERMINAL | {"read_file"}
    assert resolve_toolsets("terminal, read_file") == TERMINAL | {"read_file"}
    assert resolve_toolsets([]) == frozenset()


@pytest.mark.parametrize(
    ("enabled", "disabled", "left"),
    [
        (["notebook"], ["file", "terminal"], {"todo", "clarify"}),
        (["file", "read-only"], ["read-only"], {"patch", "write_file"}),
        (["file"], ["patch"], FILE - {"patch"}),
        (["terminal"], "terminal_tools", set()),
        (None, ["*"], set()),
    ],
)
def test_a_disable_always_wins(enabled, disabled, left):
    assert resolve_toolsets(enabled, disabled) == left


@pytest.mark.parametrize(("enabled", "disabled"), [(["flie"], None), (None, ["flie"])])
def test_unknown_name_is_an_error_that_helps(enabled, disabled):
    with pytest.raises(UnknownToolset, match=r"named 'flie'.*'file'.*Toolsets: clarify, file, "):
        resolve_toolsets(enabled, disabled)


def test_a_small_model_is_offered_few_tools_and_the_users_own(database):
    names = resolve_toolsets(default="small")
    assert {"read_file", "terminal", "database_query"} <= names
    assert not {"todo", "clarify", "patch", "process"} & names
