"""Scripts that call tools: what they can, and what they cannot do to anyone else."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import ApprovalRequested, ToolCallFinished, ToolCallStarted
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.running import CallInterrupted
from tools import execute_code_tool
from tools.environments.containment import Containment
from tools.environments.local import LocalEnvironment
from tools.registry import registry as builtin
from tools.registry import tool_error, tool_result


@pytest.fixture
def environment(tmp_path):
    with LocalEnvironment(tmp_path) as opened:
        yield opened


@pytest.fixture
def script(turn, environment):
    """Run a script on a road with the tools of the turn; its answer."""
    entry = builtin.get_entry("execute_code")
    turn.timeout = 60.0
    turn.registry.register("execute_code", "code_execution", entry.schema, entry.handler,
                           guard_fn=entry.guard_fn, timeout=entry.timeout)  # fmt: skip

    def run(code, **args):
        call = ToolCall(id="c1", name="execute_code", args={"code": code, **args})
        result = asyncio.run(turn.road(environment=environment).run(call))
        return json.loads(result.text)

    return run


def add(args, **_):
    return tool_result(sum=args["a"] + args.get("b", 0))


NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a"],
}


@pytest.fixture
def adder(turn):
    turn.tool("add", add, parameters=NUMBERS)


def test_what_it_prints_comes_back(script):
    answer = script("import sys; print('out'); print('err', file=sys.stderr)")
    assert (answer["status"], answer["exit_code"], answer["tool_calls_made"]) == ("success", 0, 0)
    assert answer["output"] == "out\nerr\n"


def test_tools_are_functions_with_their_arguments(script, adder):
    answer = script("from hermes_tools import add\nprint(add(1), add(a=1, b=2)['sum'])")
    assert answer["output"] == "{'sum': 1} 3\n"
    assert answer["tools_called"] == {"add": 2}


def test_arguments_are_coerced_as_for_a_model(script, adder):
    assert (
        script("from hermes_tools import add\nprint(add('40', '2'))")["output"] == "{'sum': 42}\n"
    )


def test_calls_run_side_by_side(script, turn):
    together = threading.Barrier(4, timeout=10)
    turn.tool("meet", lambda args, **_: tool_result(n=together.wait()))
    answer = script(
        "from concurrent.futures import ThreadPoolExecutor\nfrom hermes_tools import meet\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(sorted(pool.map(lambda _: meet()['n'], range(4))))"
    )
    assert answer["output"] == "[0, 1, 2, 3]\n"


def test_an_error_of_a_tool_is_a_value(script, turn):
    turn.tool("broken", lambda args, **_: tool_error("not today"))
    assert "not today" in script("from hermes_tools import broken\nprint(broken())")["output"]


def test_helpers_are_there(script, adder):
    answer = script(
        "from hermes_tools import json_parse, shell_quote, retry\n"
        "tries = []\n"
        "def fail():\n    tries.append(1)\n    raise ValueError\n"
        "try: retry(fail, max_attempts=2, delay=0)\nexcept ValueError: pass\n"
        "print(json_parse('{\"a\": \"x\\ty\"}'), shell_quote('a b'), len(tries))"
    )
    assert answer["output"] == "{'a': 'x\\ty'} 'a b' 2\n"


def test_texts_of_any_alphabet_pass_both_ways(script, turn):
    turn.tool("echo", lambda args, **_: args["text"], parameters={
        "type": "object", "properties": {"text": {"type": "string"}}})  # fmt: skip
    said = "gr\u00fc\u00df \u4f60\u597d \U0001f40d \u202e"
    answer = script(f"from hermes_tools import echo\nt = {said!r}\nprint(echo(t) == t, t)")
    assert answer["output"] == f"True {said}\n"


def test_every_call_is_on_the_road_and_named_after_the_script(script, turn, adder):
    script("from hermes_tools import add\nadd(1)\nadd(2)")
    inner = [each.call for each in turn.of(ToolCallStarted) if each.call.by]
    assert [(call.id, call.by, call.args) for call in inner] == [
        ("c1.1", "c1", {"a": 1}), ("c1.2", "c1", {"a": 2}),
    ]  # fmt: skip
    finished = [each.result.call.id for each in turn.of(ToolCallFinished)]
    assert finished == ["c1.1", "c1.2"]


@pytest.mark.parametrize("decision", ["once", "deny"])
def test_a_guarded_tool_asks_the_person(script, turn, erased, decision):
    turn.decision = decision
    answer = script("from hermes_tools import erase\nprint(erase('a'))")
    (request,) = [each.request for each in turn.of(ApprovalRequested)]
    assert (request.call.by, request.asker) == ("c1", "a script of the agent")
    assert erased == (["a"] if decision == "once" else [])
    assert ("denied" in answer["output"]) is (decision == "deny")


def test_time_in_tools_is_not_the_scripts_own(script, turn):
    turn.tool("slow", lambda args, **_: time.sleep(1.3) or tool_result(ok=True))
    assert script("from hermes_tools import slow\nprint(slow())", timeout=1)["status"] == "success"


def test_only_the_tools_of_the_turn_are_there(script, turn, adder):
    turn.tool("clarify", lambda args, **_: "asked")
    code = "import hermes_tools\nprint(hasattr(hermes_tools, {!r}))"
    assert script(code.format("add"))["output"] == "True\n"
    for name in ("clarify", "execute_code", "terminal"):
        assert script(code.format(name))["output"] == "False\n"


@pytest.mark.parametrize("name", ["terminal", "clarify", "execute_code", "../etc", "", None, 7])
def test_a_forged_call_of_another_tool_is_refused(script, turn, adder, name):
    answer = script(f"import hermes_tools\nhermes_tools._call({name!r}, {{}})")
    assert answer["status"] == "error"
    assert "ToolCallRefused" in answer["error"]
    assert answer["calls_refused"] == 1
    assert [e for e in turn.of(ToolCallStarted) if e.call.by] == []


@pytest.mark.parametrize(
    ("code", "error", "exit_code"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (line 2)", 1),
        ("import sys; sys.exit(3)", "exit code 3", 3),
        ("import sys; sys.exit('no')", "no", 1),
        ("x = (", "SyntaxError", 1),
        ("import os; os._exit(9)", "ended", 9),
        ("def f(): f()\nf()", "RecursionError", 1),
    ],
)
def test_how_it_fails_is_told(script, turn, code, error, exit_code):
    turn.policy = Policy("off")
    answer = script(code)
    assert (answer["status"], answer["exit_code"]) == ("error", exit_code)
    assert error in answer["error"]
    assert "hermes" not in answer["output"]


def test_a_script_that_never_ends_is_ended(script):
    answer = script("print('began', flush=True)\nwhile True: pass", timeout=1)
    assert (answer["status"], answer["exit_code"]) == ("timeout", 124)
    assert answer["output"] == "began\n"


def test_a_flood_of_output_is_cut_and_ended(script, monkeypatch):
    monkeypatch.setattr("tools.scripts.attending.MOST_PRINTED", 3_000_000)
    answer = script("while True: print('x' * 100_000)")
    assert "printed more than" in answer["error"]


def test_ten_thousand_calls_are_too_many(script, adder, monkeypatch):
    monkeypatch.setattr(execute_code_tool, "MOST_CALLS", 5)
    code = "from hermes_tools import *\nn = 0\nfor _ in range(10_000):\n    add(1); n += 1"
    answer = script(code)
    assert answer["tool_calls_made"] == 5
    assert "5 calls of tools" in answer["error"]
    stubborn = (
        "from hermes_tools import *\nwhile True:\n    try: add(1)\n    except RuntimeError: pass"
    )
    assert "after refusals" in script(stubborn)["error"]


def marked(mark):
    """Commands that run now and have this word in them."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in text and b"pytest" not in text:
            found.append(text)
    return found


@pytest.mark.parametrize("bounds", ["bubblewrap", "none"])
def test_what_it_has_started_ends_with_it(script, turn, bounds, tmp_path, monkeypatch):
    if bounds == "none":
        monkeypatch.setenv("PATH", "/nowhere")  # no bubblewrap
    turn.policy = Policy("off")
    mark = f"mark{tmp_path.name}x{os.getpid()}"
    code = (
        "import subprocess, sys, os\n"
        f"sleeps = [sys.executable, '-c', 'import time; time.sleep(60) # {mark}']\n"
        "subprocess.Popen(sleeps)\n"
        "subprocess.Popen(sleeps, start_new_session=True)\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.execv(sys.executable, sleeps)\n"
        "print('started', flush=True)"
    )
    answer = script(code)
    assert answer["output"] == "started\n"
    deadline = time.monotonic() + 5
    while marked(mark) and time.monotonic() < deadline:
        os.sched_yield()
    assert marked(mark) == []


def test_it_cannot_end_the_process_that_serves_it(script, turn):
    turn.policy = Policy("off")
    code = (
        "import os, signal\n"
        "for pid in (os.getppid(), 1):\n"
        "    try: os.killpg(os.getpgid(pid), signal.SIGKILL)\n"
        "    except OSError: pass\n"
        "    try: os.kill(pid, signal.SIGTERM)\n"
        "    except OSError: pass\n"
        "print('tried')"
    )
    script(code)  # how the script itself ends is its own affair
    assert script("print('well')")["output"] == "well\n"


def test_its_children_have_no_way_to_the_tools(script, turn, adder):
    turn.policy = Policy("off")
    code = (
        "import os, subprocess, sys\n"
        "from hermes_tools import add\n"
        "print(add(1))\n"
        "look = 'import os; print(sorted(os.listdir(\"/proc/self/fd\"))[:3])'\n"
        "print(subprocess.run([sys.executable, '-c', look], close_fds=False, "
        "capture_output=True, text=True).stdout.strip())\n"
        "sys.stdout.flush()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try: add(2)\n"
        "    except RuntimeError as error: print('child:', error, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "print(add(3))"
    )
    lines = script(code)["output"].splitlines()
    assert lines[0] == "{'sum': 1}"
    assert lines[1] == "['0', '1', '2']"
    assert "own process only" in lines[2]
    assert lines[3] == "{'sum': 3}"


def test_nothing_listens_that_others_could_reach(script, adder):
    """The way to the tools is a pair of pipes: it has no name that anyone could open."""
    code = (
        "import os\nimport hermes_tools\n"
        "kinds = set()\n"
        "for number in os.listdir('/proc/self/fd'):\n"
        "    try: kinds.add(os.readlink(f'/proc/self/fd/{number}').partition(':')[0])\n"
        "    except OSError: pass\n"
        "print('pipe' in kinds, 'socket' in kinds)"
    )
    assert script(code)["output"] == "True False\n"


def test_garbage_on_the_way_to_the_tools_ends_it(script, adder):
    code = (
        "import os\nimport hermes_tools\n"
        "for number in range(3, 20):\n"
        "    try: os.write(number, b'\\xff' * 4000)\n"
        "    except OSError: pass\n"
        "while True: pass"
    )
    assert "the way between" in script(code, timeout=20)["error"]


def test_secrets_of_the_kernel_are_not_in_its_environment(script, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-scripts-4711")
    monkeypatch.setenv("PLAIN", "for all")
    code = "import os; print('OPENAI_API_KEY' in os.environ, os.environ.get('PLAIN'))"
    assert script(code)["output"] == "False for all\n"


def test_the_folder_is_that_of_the_shell(script, environment, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "mine.py").write_text("value = 5")
    environment.execute("cd deep")
    answer = script("import mine, os; print(mine.value, os.path.basename(os.getcwd()))")
    assert answer["output"] == "5 deep\n"


def test_outside_of_the_workspace_it_writes_nothing(script, turn, tmp_path_factory):
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap here")
    turn.policy = Policy("off")
    there = tmp_path_factory.mktemp("outside") / "x"
    answer = script(f"open({str(there)!r}, 'w').write('x')")
    assert answer["status"] == "error"
    assert not there.exists()


def test_bounds_that_are_asked_for_and_cannot_be_had_stop_it(script, environment, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    environment.contain(Containment(mode="bubblewrap"))
    assert "must be contained and cannot be" in script("print(1)")["error"]


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("import shutil; shutil.rmtree('/')", "block"),
        ("import os; os.remove('a')", "ask"),
        ("import subprocess; subprocess.run(['rm', '-rf', '/'])", "block"),
        ("from hermes_tools import terminal\nterminal('ls')", "safe"),
        ("print(sum(range(9)))", "safe"),
        ("x = (", "safe"),
    ],
)
def test_it_is_judged_as_the_python_that_it_is(code, verdict, tmp_path):
    said = execute_code_tool.objection({"code": code}, cwd=str(tmp_path))
    told = "safe" if said is None else "block" if said.forbidden else "ask"
    assert told == verdict


def test_elsewhere_a_newer_python_may_read_what_this_one_cannot():
    code = "match = (\nimport os; os.remove('a')"
    said = execute_code_tool.objection({"code": code}, environment=object(), cwd="/")
    assert said is not None


def test_an_interrupt_ends_the_script_and_the_tool_that_it_waits_for(script, turn, environment):
    began, ended = threading.Event(), threading.Event()

    def slow(args, cancelled=None, **_):
        began.set()
        if cancelled.wait(20):
            ended.set()
        return tool_result(ok=True)

    turn.tool("slow", slow)
    code = "from hermes_tools import slow\nprint(slow())"

    async def interrupted():
        call = ToolCall(id="c1", name="execute_code", args={"code": code})
        task = asyncio.ensure_future(turn.road(environment=environment).run(call))
        await asyncio.to_thread(began.wait, 10)
        task.cancel()
        with pytest.raises(CallInterrupted):
            await task

    asyncio.run(interrupted())
    assert ended.wait(5)


def test_what_a_program_does_at_its_very_end_is_done(script, tmp_path):
    code = (
        "import atexit\natexit.register(print, 'at exit')\n"
        "left_open = open('left.txt', 'x')\nleft_open.write('x' * 10)"
    )
    assert script(code)["output"] == "at exit\n"
    assert (tmp_path / "left.txt").read_text() == "x" * 10


def test_without_the_road_it_says_so():
    assert "agent loop" in execute_code_tool.execute_code({"code": "1"})


def test_the_standard_streams_of_this_process_are_never_touched(script, adder):
    before = sys.stdout, sys.stderr
    seen = []
    watching = threading.Event()

    def watch():
        while not watching.is_set():
            seen.append((sys.stdout, sys.stderr) == before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    script("from hermes_tools import add\nfor n in range(50): print(add(n))")
    watching.set()
    watcher.join()
    assert all(seen)
