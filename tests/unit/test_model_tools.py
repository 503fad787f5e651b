"""The names that readers of the articles on Hermes Agent will type."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from hermes_jupyter import model_tools
from tools.registry import registry, tool_result

PARAMETERS = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def double():
    schema = {"description": "Twice as much.", "parameters": PARAMETERS}
    registry.register(
        "double", "test_model_tools", schema, lambda args, **_: tool_result(n=args["n"] * 2)
    )
    yield
    registry.deregister("double")


def test_a_call_takes_the_whole_road(double):
    assert json.loads(model_tools.handle_function_call("double", {"n": "21"})) == {"n": 42}
    assert "Invalid arguments" in model_tools.handle_function_call("double", {"n": "many"})
    assert "Unknown tool" in model_tools.handle_function_call("treble", {"n": 1})


@pytest.mark.parametrize("args", [None, "n=1", [1], 7])
def test_arguments_that_are_no_object_are_an_error(double, args):
    assert "must be an object" in model_tools.handle_function_call("double", args)


def test_a_call_works_in_a_worker_thread_as_well(double):
    answers = []
    call = lambda: answers.append(model_tools.handle_function_call("double", {"n": 1}))  # noqa: E731
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(10)
    assert json.loads(answers[0]) == {"n": 2}


def test_what_needs_a_consent_is_denied_where_nobody_can_be_asked(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("x")
    answer = model_tools.handle_function_call("terminal", {"command": f"rm {precious}"})
    assert json.loads(answer)["status"] == "denied"
    assert precious.exists()


@pytest.mark.parametrize("name", sorted(model_tools._AGENT_LOOP_TOOLS))
def test_tools_that_need_an_agent_say_so(name):
    answer = json.loads(model_tools.handle_function_call(name, {}))
    assert answer == {"error": f"{name} must be handled by the agent loop"}


def test_only_the_enabled_tools_can_be_called(double):
    call = model_tools.handle_function_call
    assert "Unknown tool" in call("double", {"n": 1}, enabled_tools=["read_file"])
    assert json.loads(call("double", {"n": 1}, enabled_tools=["double"])) == {"n": 2}


def test_definitions_name_enabled_minus_disabled():
    named = model_tools.get_tool_definitions(["file", "terminal"], ["terminal"])
    names = [definition["function"]["name"] for definition in named]
    assert names == ["patch", "read_file", "search_files", "write_file"]


def test_a_new_tool_is_in_the_definitions_at_once(double):
    def names():
        found = model_tools.get_tool_definitions()
        return {definition["function"]["name"] for definition in found}

    assert "double" in names()
    registry.deregister("double")
    assert "double" not in names()


def test_what_a_caller_adds_to_the_definitions_stays_his():
    model_tools.get_tool_definitions().append({"type": "function"})
    assert {"type": "function"} not in model_tools.get_tool_definitions()


def test_arguments_get_the_types_that_the_tool_wants(double):
    assert model_tools.coerce_tool_args("double", {"n": "7"}) == {"n": 7}
    assert model_tools.coerce_tool_args("nothing", {"n": "7"}) == {"n": "7"}


def test_the_private_names_of_the_articles_are_there(tmp_path):
    def call(name, **args):
        function = SimpleNamespace(name=name, arguments=json.dumps(args))
        return SimpleNamespace(function=function)

    reads = [call("read_file", path=str(tmp_path / name)) for name in "ab"]
    assert model_tools._should_parallelize_tool_batch(reads)
    assert not model_tools._should_parallelize_tool_batch([*reads, call("clarify", question="?")])
    assert model_tools._paths_overlap(tmp_path, tmp_path / "a")
    assert not model_tools._paths_overlap(tmp_path / "a", tmp_path / "b")
    assert model_tools._is_destructive_command("rm -r build")
    assert not model_tools._is_destructive_command("ls")
    assert model_tools._LEGACY_TOOLSET_MAP["file_tools"] == "file"
    assert model_tools.FOREGROUND_MAX_TIMEOUT == 600
    assert not hasattr(model_tools, "_nothing")
    assert Path(model_tools.__file__).name == "model_tools.py"
