import pytest

from hermes_jupyter.agent.checks import capped, checked
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.calls import ToolCall
from tools.registry import ToolRegistry

NAMES = {"read_file", "write_file", "search_files", "terminal"}


def one(name, arguments, names=NAMES, **known):
    (call,) = checked([RawCall(id="1", name=name, arguments=arguments)], names, **known)
    return call


def test_a_mended_call_is_ready_to_run():
    call = one("functions.Read_File", "{'path': 'a',}")
    assert (call.name, call.args, call.error) == ("read_file", {"path": "a"}, "")


def test_an_unknown_name_is_answered_with_the_near_ones():
    call = one("read_text_file", "{}")
    assert "Did you mean read_file" in call.error
    assert "terminal" in call.error


def test_the_answer_to_an_unknown_name_stays_short():
    call = one("x" * 9_000, "{}", names=[f"tool_number_{number}" for number in range(5_000)])
    assert len(call.error) < 3_000
    assert "and 4900 more" in call.error


def test_a_withheld_tool_is_neither_called_nor_named():
    call = one("delete_file", "{}", withheld={"delete_file"})
    assert "There is no tool 'delete_file'" in call.error
    assert one("terminl", "{}", withheld={"terminals"}).error


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"path": "a', "inside the string that begins at character 9"),
        ("[1]", "a JSON object is needed, not list"),
        ('{"a": 1}{"a": 2}', "2 different objects"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "at character 6"),
    ],
)
def test_unreadable_arguments_say_what_is_wrong_and_are_not_run(text, says):
    call = one("read_file", text)
    assert says in call.error
    assert "Nothing was run" in call.error
    assert call.args == {}


def test_an_envelope_is_opened_beside_the_parameters():
    text = '{"name": "terminal", "arguments": {"command": "ls"}}'
    assert one("terminal", text, parameters={"terminal": ["command"]}).args == {"command": "ls"}
    assert "arguments" in one("terminal", text).args


def test_a_twin_in_one_step_does_not_run_twice():
    raw = [
        RawCall(id="1", name="terminal", arguments='{"a": 1, "b": 2}'),
        RawCall(id="2", name="Terminal", arguments="{'b': 2, 'a': 1}"),
    ]
    first, second = checked(raw, NAMES)
    assert not first.error
    assert "Same as call 1" in second.error


def test_what_could_not_run_has_no_twin():
    raw = [RawCall(id=str(n), name="terminal", arguments=a) for n, a in enumerate(["{", "{}"])]
    broken, whole = checked(raw, NAMES)
    assert broken.error
    assert not whole.error


def test_the_same_mistake_is_known_again_wherever_it_is():
    texts = ['{"path": "a', '{"path": "ab", "x": "y']
    first, second = (one("read_file", text) for text in texts)
    assert first.error != second.error
    assert first.mistake == second.mistake != one("read", "{").mistake


def test_of_a_tool_that_limits_its_calls_only_so_many_run_in_a_step():
    tools = ToolRegistry()
    tools.register("delegate_task", "test", {}, lambda args, **_: "{}", max_per_step=2)
    tools.register("read_file", "test", {}, lambda args, **_: "{}")
    calls = [ToolCall(id=str(n), name="delegate_task", args={"n": n}) for n in range(4)]
    reads = [ToolCall(id=f"r{n}", name="read_file", args={"n": n}) for n in range(4)]
    kept = capped([*calls, *reads], tools)
    assert [call.id for call in kept if call.error] == ["2", "3"]
    assert "at most 2 calls" in kept[2].error
