"""Finding the files that register tools."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from tools import availability
from tools.discovery import discover, discover_builtin, registers_tools

EXAMPLES = Path(__file__).parent / "examples"

TOOL = """
from tools.registry import registry, tool_result

def answer(args, **_):
    return tool_result(answer={answer})

registry.register(name="{name}", toolset="{toolset}", schema={{}}, handler=answer)
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "my tools"
    made.mkdir()
    return made


@pytest.fixture
def write(folder):
    """Writes a tool file that registers one tool."""

    def make(file, *, name="ask", toolset="mine", answer=42, before="", after=""):
        text = TOOL.format(name=name, toolset=toolset, answer=answer)
        (folder / file).write_text(before + text + after, encoding="utf-8")

    return make


def answer_of(registry, name="ask"):
    return json.loads(registry.dispatch(name, {}))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("registry.register(name='a')", True),
        ("tools.registry.registry.register(name='a')", True),
        ("if wanted:\n    pass\nelse:\n    registry.register(name='a')", True),
        ("for name in names:\n    registry.register(name=name)", True),
        ("try:\n    import x\nexcept ImportError:\n    registry.register(name='a')", True),
        ("with lock:\n    if wanted:\n        registry.register(name='a')", True),
        ("match kind:\n    case 1:\n        registry.register(name='a')", True),
        ("def f():\n    registry.register(name='a')", False),
        ("class A:\n    registry.register(name='a')", False),
        ("other.register(name='a')", False),
        ("registry.register", False),
        ("'registry.register()'", False),
    ],
)
def test_registration_counts_where_it_runs_on_import(source, found):
    assert registers_tools(ast.parse(source)) is found


def test_tool_file_in_any_folder_is_loaded_by_its_path(registry, folder, write):
    write("ask_tool.py")
    path_before = list(sys.path)
    (found,) = discover(folder)
    assert (found.path, found.ok, found.reason) == (folder / "ask_tool.py", True, "")
    assert answer_of(registry) == {"answer": 42}
    assert sys.path == path_before
    assert sys.modules[found.module].__file__ == str(folder / "ask_tool.py")


def test_files_that_register_nothing_are_not_run(folder):
    for file in "helper.py", "__init__.py", "registry.py", ".hidden.py":
        text = "raise SystemExit\n" + ("" if file == "helper.py" else "registry.register()\n")
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "talks.py").write_text("'''registry.register()'''\n1/0\n", encoding="utf-8")
    assert discover(folder) == []


def test_folder_that_does_not_exist_has_no_tools(tmp_path):
    assert discover(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("", "\ndef (:\n", "SyntaxError: invalid syntax (line 9)"),
        ("import no_such\n", "", "ModuleNotFoundError: No module named 'no_such' (line 1)"),
        ("", "1 / 0\n", "ZeroDivisionError: division by zero (line 8)"),
        ("", "raise SystemExit(3)\n", "SystemExit: 3 (line 8)"),
        ("", "raise GeneratorExit\n", "GeneratorExit (line 8)"),
        ("", "\0", "source code string cannot contain null bytes"),
    ],
)
def test_broken_file_is_reported_and_harms_no_other(registry, folder, write, before, after, reason):
    write("a_broken.py", name="broken", before=before, after=after)
    write("b_whole.py", name="whole")
    broken, whole = discover(folder)
    assert not broken.ok
    assert reason in broken.reason
    assert whole.ok
    assert registry.get_entry("broken") is None
    assert broken.module not in sys.modules


def test_interrupt_of_an_import_passes(registry, folder, write):
    write("slow.py", after="raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        discover(folder)
    assert registry.get_entry("ask") is None


def test_file_whose_tool_belongs_to_another_is_reported(registry, folder, write):
    write("a_first.py", toolset="mine")
    write("b_second.py", toolset="yours", answer=1)
    first, second = discover(folder)
    assert first.ok
    assert "already registered by toolset 'mine'" in second.reason
    assert answer_of(registry) == {"answer": 42}


def test_file_that_overrides_a_tool_gives_it_back_when_it_goes(registry, folder, write):
    override = "registry.register('ask', 'yours', {}, answer, override=True)\n"
    write("a_first.py", toolset="mine")
    write("b_second.py", name="tell", toolset="yours", answer=1, after=override)
    discover(folder)
    assert answer_of(registry) == {"answer": 1}
    assert [each.tool.name for each in registry.overrides] == ["ask"]
    write("b_second.py", name="tell", toolset="yours", answer=2, after=override)
    discover(folder)
    assert answer_of(registry) == {"answer": 2}
    (folder / "b_second.py").unlink()
    discover(folder)
    assert answer_of(registry) == {"answer": 42}
    assert registry.overrides == []


def test_file_that_fails_after_an_override_leaves_the_tool_as_it_was(registry, folder, write):
    write("a_first.py", toolset="mine")
    override = "registry.register('ask', 'yours', {}, answer, override=True)\n1 / 0\n"
    write("b_second.py", name="tell", toolset="yours", answer=1, after=override)
    assert [each.ok for each in discover(folder)] == [True, False]
    assert answer_of(registry) == {"answer": 42}
    assert registry.overrides == []


def test_file_of_the_same_name_in_another_folder_is_another_file(registry, tmp_path, write):
    write("ask_tool.py")
    (tmp_path / "ask_tool.py").write_text(
        TOOL.format(name="tell", toolset="mine", answer=7), encoding="utf-8"
    )
    modules = {discover(tmp_path / "my tools")[0].module, discover(tmp_path)[0].module}
    assert len(modules) == 2
    assert answer_of(registry) == {"answer": 42}
    assert answer_of(registry, "tell") == {"answer": 7}


def test_unchanged_file_is_not_loaded_again(registry, folder, write):
    write("ask_tool.py", before="import os\n")
    first = discover(folder)
    entry, module = registry.get_entry("ask"), sys.modules[first[0].module]
    assert discover(folder) == first
    assert registry.get_entry("ask") is entry
    assert sys.modules[first[0].module] is module


def test_changed_file_is_loaded_again_even_within_the_same_second(registry, folder, write):
    write("ask_tool.py", answer=42)
    discover(folder)
    write("ask_tool.py", answer=43)
    assert discover(folder)[0].ok
    assert answer_of(registry) == {"answer": 43}


def test_changed_file_may_rename_its_tool_or_move_it(registry, folder, write):
    write("ask_tool.py", name="ask", toolset="mine")
    discover(folder)
    write("ask_tool.py", name="ask", toolset="yours")
    assert discover(folder)[0].ok
    write("ask_tool.py", name="tell", toolset="yours")
    assert discover(folder)[0].ok
    assert registry.get_entry("ask") is None
    assert answer_of(registry, "tell") == {"answer": 42}


@pytest.mark.parametrize("after", ["def (:\n", "1 / 0\n"], ids=["syntax", "import"])
def test_file_broken_by_a_change_leaves_its_last_whole_tool(registry, folder, write, after):
    write("ask_tool.py", answer=42)
    discover(folder)
    write("ask_tool.py", answer=43, after=after)
    assert not discover(folder)[0].ok
    assert answer_of(registry) == {"answer": 42}
    write("ask_tool.py", answer=44)
    assert discover(folder)[0].ok
    assert answer_of(registry) == {"answer": 44}


def test_tools_of_a_file_that_is_gone_or_registers_no_more_are_forgotten(registry, folder, write):
    write("ask_tool.py", name="ask")
    write("tell_tool.py", name="tell")
    discover(folder)
    (folder / "ask_tool.py").unlink()
    (folder / "tell_tool.py").write_text("'retired'\n", encoding="utf-8")
    assert discover(folder) == []
    assert registry.get_entry("ask") is None
    assert registry.get_entry("tell") is None


def test_file_of_a_package_is_imported_by_its_name(registry, tmp_path, monkeypatch):
    package = tmp_path / "my_package_of_tools"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "ask.py").write_text(TOOL.format(name="ask", toolset="mine", answer=1), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = discover(package, package.name)
    assert found.module == "my_package_of_tools.ask"
    assert answer_of(registry) == {"answer": 1}


def test_built_in_tools_are_found_in_their_package():
    for found in discover_builtin():
        assert found.module == f"tools.{found.path.stem}"
        assert found.ok, found.reason


@pytest.fixture
def example(folder):
    """Drops an example tool, as it was published, into the folder of tools."""

    def drop(name):
        source = (EXAMPLES / f"{name}.txt").read_bytes()
        (folder / f"{name}.py").write_bytes(source)
        (found,) = discover(folder)
        assert found.ok, found.reason

    return drop


@pytest.fixture
def database(tmp_path, monkeypatch):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sales (day TEXT, amount INTEGER)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [("mon", 3), ("tue", 5)])
    connection.close()
    monkeypatch.setenv("DATABASE_URL", str(path))


def test_published_database_tool_answers_from_a_real_database(registry, example, database):
    example("database_tool")
    query = {"query": "SELECT day FROM sales ORDER BY amount DESC", "max_rows": 1}
    answer = json.loads(registry.dispatch("database_query", query))
    assert answer["data"] == [{"day": "tue"}]
    assert answer["truncated"] is True
    refused = json.loads(registry.dispatch("database_query", {"query": "DELETE FROM sales"}))
    assert "Only SELECT" in refused["error"]


def test_published_database_tool_is_offered_once_its_variable_is_set(
    registry, example, monkeypatch
):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    example("database_tool")
    assert registry.get_definitions(["database_query"]) == []
    entry = registry.get_entry("database_query")
    assert availability.check(entry.check_fn, entry.requires_env).reason == "needs DATABASE_URL"
    monkeypatch.setenv("DATABASE_URL", "shop.db")
    availability.invalidate()
    assert len(registry.get_definitions(["database_query"])) == 1


needs_httpx = pytest.mark.skipif(
    importlib.util.find_spec("httpx") is None, reason="the published weather tool imports httpx"
)


@pytest.fixture
def weather(monkeypatch):
    """Stands in for the network of ``httpx``; the client itself is the real one."""
    import httpx

    async def respond(request):
        await asyncio.sleep(0)
        assert request.url.params["key"] == "secret"
        name = request.url.params["q"]
        return httpx.Response(
            200,
            json={
                "location": {"name": name},
                "current": {"temp_c": 21.5, "condition": {"text": "Sunny"}},
            },
        )

    real_client = httpx.AsyncClient
    transport = httpx.MockTransport(respond)
    monkeypatch.setattr(httpx, "AsyncClient", lambda: real_client(transport=transport))
    monkeypatch.setenv("WEATHER_API_KEY", "secret")


SUNNY = {"location": "Oslo", "temperature": 21.5, "condition": "Sunny"}


@needs_httpx
def test_published_weather_tool_answers_in_any_thread(registry, example, weather, call_from):
    example("weather_tool")
    answer = call_from(lambda: registry.dispatch("weather_query", {"location": " Oslo "}))
    assert json.loads(answer) == SUNNY


@needs_httpx
def test_published_weather_tool_can_be_awaited(registry, example, weather):
    example("weather_tool")
    answer = asyncio.run(registry.adispatch("weather_query", {"location": "Oslo"}))
    assert json.loads(answer) == SUNNY


@needs_httpx
def test_published_weather_tool_asks_for_its_key(registry, example, monkeypatch):
    monkeypatch.delenv("WEATHER_API_KEY", raising=False)
    example("weather_tool")
    answer = json.loads(registry.dispatch("weather_query", {"location": "Oslo"}))
    assert answer == {"error": "WEATHER_API_KEY not configured"}
