from hermes_jupyter.agent.tries import Tries
from hermes_jupyter.calls import ToolCall, ToolResult


def ran(name="terminal"):
    return ToolResult(call=ToolCall(id="1", name=name), text="done", args={})


def failed(name="terminal", mistake="the arguments are no JSON"):
    call = ToolCall(id="1", name=name)
    return ToolResult(call=call, text="no", status="error", mistake=mistake)


def test_three_tries_of_one_mistake_are_enough():
    tries, wrong = Tries(), failed("write_file", "the arguments of write_file are no JSON")
    assert not tries.note([wrong, wrong, ran()])
    assert not tries.note([wrong, ran()])
    assert "same mistake 3 times: the arguments of write_file" in tries.note([wrong, ran()])


def test_a_tool_that_could_be_called_has_all_its_tries_again():
    tries = Tries()
    steps = [failed(), failed(), ran(), failed(), failed()]
    assert [tries.note([result]) for result in steps] == [""] * 5


def test_three_steps_in_which_nothing_could_run_are_enough_whatever_the_mistakes():
    tries = Tries()
    assert not tries.note([failed(mistake="one")])
    assert not tries.note([failed(mistake="two")])
    assert "3 times in a row" in tries.note([failed(mistake="three")])


def test_a_tool_that_ran_and_failed_is_no_mistake_of_the_model():
    tries = Tries()
    wrong = ToolResult(call=ToolCall(id="1", name="x"), text="no", status="error", args={})
    assert [tries.note([wrong]) for _ in range(5)] == [""] * 5
