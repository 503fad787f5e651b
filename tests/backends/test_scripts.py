"""Scripts that call tools run where the terminal is, and their calls come back from there."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from hermes_jupyter.road.running import CallInterrupted
from tools.discovery import discover_builtin
from tools.environments.base import Environment
from tools.registry import ToolRegistry, registry, tool_result

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def road(shell: Environment) -> Road:
    discover_builtin()
    names = ("execute_code", "read_file", "write_file", "terminal")
    overlay = {name: registry.get_entry(name) for name in names}
    tools = ToolRegistry()
    numbers = {"parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    tools.register("double", "own", numbers, lambda args, **_: tool_result(n=2 * args["n"]))
    return Road(
        tools=tools.view(overlay=overlay),
        desk=ApprovalDesk(),
        policy=Policy("off"),
        emit=lambda event: None,
        context={"environment": shell, "written": set()},
    )


@pytest.fixture
def run(road: Road, shell: Environment) -> Run:
    if shell.execute("command -v python3", timeout=60).exit_code:
        pytest.skip("there is no python3 in this place")

    def script(code: str, **args: Any) -> dict[str, Any]:
        call = ToolCall(id="c", name="execute_code", args={"code": code, **args})
        return json.loads(asyncio.run(road.run(call)).text)

    return script


def test_a_script_runs_in_the_folder_of_the_shell(shell, run):
    answer = run("import os; print(os.path.basename(os.getcwd()))")
    assert answer["output"].strip() == shell.cwd.rpartition("/")[2], answer


def test_a_script_calls_tools_of_the_kernel_and_of_the_place(run):
    code = (
        "from hermes_tools import double, read_file, write_file, terminal\n"
        "write_file(path='a.txt', content='h\\u00e9llo\\n')\n"
        "print(double(n=21)['n'], terminal('cat a.txt')['output'], open('a.txt').read())"
    )
    answer = run(code)
    assert answer["output"].split() == ["42", "h\u00e9llo", "h\u00e9llo"], answer
    assert answer["tool_calls_made"] == 3


def test_a_failure_is_told(run):
    answer = run("1 / 0")
    assert "ZeroDivisionError: division by zero (line 1)" in answer["error"]


def test_a_script_that_never_ends_is_ended_with_what_it_started(shell, run):
    mark = uuid.uuid4().hex
    code = (
        "import subprocess\n"
        f"subprocess.Popen(['sh', '-c', 'sleep 300; : {mark}'])\n"
        f"subprocess.Popen(['sh', '-c', 'sleep 300; : {mark}'], start_new_session=True)\n"
        "print('began', flush=True)\nwhile True: pass"
    )
    answer = run(code, timeout=3)
    assert (answer["status"], answer["output"].strip()) == ("timeout", "began"), answer
    look = (
        "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | "
        f"grep -c 'sleep 300; : [{mark[0]}]{mark[1:]}'"
    )
    assert shell.execute(look, timeout=60).output.strip() == "0"


def test_an_interrupt_ends_it_at_once(shell, road, run):
    began = threading.Event()

    def tell(args: dict[str, Any], **_: Any) -> str:
        began.set()
        return tool_result(ok=True)

    tools = ToolRegistry()
    tools.register("tell", "own", {}, tell)
    overlay = {entry.name: entry for entry in road.tools.entries()}
    there = Road(
        tools=tools.view(overlay=overlay),
        desk=road.desk, policy=road.policy, emit=road.emit, context=road.context,
    )  # fmt: skip
    code = "from hermes_tools import tell\ntell()\nwhile True: pass"

    async def interrupted() -> None:
        call = ToolCall(id="c", name="execute_code", args={"code": code})
        task = asyncio.ensure_future(there.run(call))
        await asyncio.to_thread(began.wait, 30)
        task.cancel()
        with pytest.raises(CallInterrupted):
            await task

    asyncio.run(interrupted())
    assert began.is_set()
