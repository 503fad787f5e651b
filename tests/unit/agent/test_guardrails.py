"""A model that goes round in circles is stopped; one that works is not."""

from __future__ import annotations

import pytest

from hermes_jupyter.agent.guardrails import Guardrails
from hermes_jupyter.calls import ToolCall, ToolResult


def result(name="search_files", text="nothing", status="ok", exit_code=0, **args):
    return ToolResult(
        call=ToolCall(id="1", name=name, args=args), text=text, status=status,
        exit_code=exit_code, args=args,
    )  # fmt: skip


def stops_after(steps):
    """How many of these steps are made before it stops."""
    guard = Guardrails()
    for number, step in enumerate(steps, 1):
        if guard.note(step):
            return number
    return None


def test_the_same_call_with_the_same_result_is_stopped():
    assert stops_after([[result(query="x")]] * 20) == 6


@pytest.mark.parametrize("length", [2, 3, 4])
def test_circles_of_any_length_are_stopped(length):
    circle = [[result(query=str(number))] for number in range(length)]
    assert stops_after(circle * 10) == length + 5


def test_a_failure_is_the_same_whatever_the_arguments():
    steps = [[result(text="no such table", status="error", query=str(n))] for n in range(20)]
    assert stops_after(steps) == 5
    steps = [
        [result("terminal", '{"exit_code": 1}', exit_code=1, command=str(n))] for n in range(9)
    ]
    assert stops_after(steps) == 5


def test_other_work_in_between_does_not_hide_the_same_failure():
    steps = []
    for number in range(20):
        steps.append([result("patch", f"changed {number}", path="a", number=number)])
        steps.append([result("terminal", "1 failed", exit_code=1, command="pytest")])
    assert stops_after(steps) == 10


@pytest.mark.parametrize(
    "steps",
    [
        [[result(query=str(number))] for number in range(50)],
        [[result("process", f"{number} %", action="poll")] for number in range(50)],
        [[result("terminal", f"error {number}", exit_code=1)] for number in range(50)],
        [[result("read_file", "error: failed", path=f"{number}.log")] for number in range(50)],
        [[result(query="x"), result("patch", f"changed {number}")] for number in range(50)],
    ],
)
def test_work_that_brings_something_goes_on(steps):
    assert stops_after(steps) is None


def test_the_model_is_told_before_it_is_stopped():
    guard = Guardrails()
    hints = []
    for _ in range(5):
        guard.note([result()])
        hints.append(bool(guard.hint()))
    assert hints == [False, False, False, True, True]
    guard.note([result(text="new")])
    assert guard.hint() == ""
