"""The agent's code in the user's kernel: what it may do there, and what it must leave alone."""

from __future__ import annotations

import json
import uuid

import pytest

from hermes_jupyter.testing import call

MIME = "application/vnd.hermes.turn+json"


def tool(notebook, name, /, **args):
    """The answer of a tool that is called from a cell where nobody can be asked."""
    code = f"import hermes_jupyter, json\n_r = hermes_jupyter.call({name!r}, {args!r})"
    return json.loads(notebook.run(f"{code}\nprint(_r.text)", allow_stdin=False).splitlines()[-1])


def python(notebook, code, /, **args):
    return tool(notebook, "run_python", code=code, **args)


def awaited(notebook, code, /, **args):
    """The same from a cell that awaits the call."""
    asked = {"code": code, **args}
    cell = f"import hermes_jupyter\n_r = await hermes_jupyter.acall('run_python', {asked!r})"
    return json.loads(notebook.run(f"{cell}\nprint(_r.text)", allow_stdin=False).splitlines()[-1])


RUNNERS = pytest.mark.parametrize("run", [python, awaited])


@RUNNERS
def test_code_works_on_the_users_variables(start, run):
    notebook = start()
    notebook.run("numbers = [1, 2]; old = 3")
    answer = run(notebook, "numbers.append(3); total = sum(numbers); del old; total")
    assert answer == {
        "value": "6",
        "new_variables": ["total: 6"],
        "changed_variables": ["numbers: [1, 2, 3]"],
        "deleted_variables": ["old"],
    }
    assert notebook.run("print(numbers, total, 'old' in dir())") == "[1, 2, 3] 6 False\n"


@RUNNERS
def test_ipython_is_left_as_it_was(start, run):
    notebook = start()
    notebook.run("1 + 1")
    look = (
        "import sys; ip = get_ipython(); (dict(Out), _, ip.execution_count, In[-2], sys.stdout, "
        "sys.displayhook, ip.display_pub.publish, ip.system, ip.ask_exit)"
    )
    notebook.run(
        f"def look():\n    {look.rpartition('; ')[0]}\n    return {look.rpartition('; ')[2]}"
    )
    code = "_ = 'mine'; __ = 5; print('x'); display(7); 99"
    if run is python:
        cell = f"h.call('run_python', code={code!r})"
    else:
        cell = f"await h.acall('run_python', {{'code': {code!r}}})"
    said = notebook.run(
        f"import hermes_jupyter as h\nbefore = look(); _r = {cell}\n"
        "after = look(); print([a is b or a == b for a, b in zip(before, after)])",
        allow_stdin=False,
    )
    assert set(said.splitlines()[-1].strip("[]").split(", ")) == {"True"}
    assert notebook.run("print(Out[max(Out)], 99 in Out.values())").split()[-1] == "False"


def test_the_code_is_in_no_history(start):
    notebook = start()
    python(notebook, "marked_for_the_test = 41 + 1")
    history = "[*In, *(each[2] for each in get_ipython().history_manager.get_range())]"
    found = notebook.run(f"print([x for x in {history} if x.startswith('marked_for')])")
    assert found == "[]\n"


@RUNNERS
def test_awaiting_works_although_a_loop_runs_already(start, run):
    notebook = start()
    code = "import asyncio\nawait asyncio.sleep(0.01)\nasyncio.current_task() is not None"
    assert run(notebook, code)["value"] == "True"
    assert notebook.run("await asyncio.sleep(0); print('still well')") == "still well\n"


def test_awaited_turns_use_the_kernels_own_loop(start):
    notebook = start()
    notebook.run("import asyncio; own = asyncio.get_running_loop()")
    said = awaited(notebook, "await asyncio.sleep(0)\nasyncio.get_running_loop() is own")
    assert said["value"] == "True"


def test_cells_that_are_queued_meanwhile_run_afterwards(start):
    notebook = start()
    code = "import asyncio\nawait asyncio.sleep(0.2)"
    first = notebook.execute(
        f"import hermes_jupyter as h; h.call('run_python', code={code!r})", allow_stdin=False
    )
    second, third = notebook.execute("x = 1"), notebook.execute("print(x)")
    assert [notebook.status(each) for each in (first, second, third)] == ["ok"] * 3
    assert notebook.text(third) == "1\n"


@RUNNERS
def test_magics_and_commands_work(start, run):
    notebook = start()
    answer = run(notebook, "%time x = 5\nfiles = !echo a; echo b\n!echo said\nfiles")
    assert "Wall time" in answer["output"]
    assert "said\n" in answer["output"]
    assert answer["value"] == "['a', 'b']"
    assert run(notebook, "%%bash\necho from bash")["output"] == "from bash\n"


def test_what_programs_write_into_the_kernels_pipe_is_heard(start, monkeypatch):
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # with it ipykernel has no such pipe
    notebook = start(fresh=True)
    answer = python(notebook, "import os; _x = os.system('echo piped')")
    assert answer["output"] == "piped\n"


@RUNNERS
def test_what_is_displayed_is_shown_below_the_cell_and_told_to_the_model(start, run):
    notebook = start()
    answer = run(notebook, "print('for the model'); display({'shown': 1})")
    assert (answer["output"], answer["displayed"]) == ("for the model\n", ["{'shown': 1}"])
    shown = [m["content"]["data"] for m in notebook.published if m["msg_type"] == "display_data"]
    assert {"text/plain": "{'shown': 1}"} in shown
    assert "for the model" not in "".join(
        m["content"]["text"] for m in notebook.published if m["msg_type"] == "stream"
    ).replace(json.dumps(answer), "")


def test_other_threads_print_where_they_always_did(start):
    notebook = start()
    notebook.run(
        "import threading\n"
        "go, said = threading.Event(), threading.Event()\n"
        "def talk():\n    go.wait(); print('from the thread'); said.set()\n"
        "thread = threading.Thread(target=talk); thread.start()"
    )
    answer = python(notebook, "go.set(); _x = said.wait(5); print('mine')")
    assert answer["output"] == "mine\n"
    notebook.until_text("from the thread")


def test_the_code_may_clear_its_own_output_but_not_the_turn(start):
    notebook = start()
    code = "from IPython.display import clear_output\nprint('a'); clear_output(); print('b')"
    assert python(notebook, code)["output"] == "b\n"
    assert "clear_output" not in {m["msg_type"] for m in notebook.published}


@RUNNERS
@pytest.mark.parametrize(
    "code",
    ["import time; time.sleep(31)", "import asyncio; await asyncio.sleep(31)", "while True: pass"],
)
def test_code_that_takes_too_long_is_ended(start, run, code):
    notebook = start()
    answer = run(notebook, f"kept = 1\n{code}", timeout=1)
    assert "interrupted after 1 s" in answer["error"]
    assert notebook.run("print(kept)") == "1\n"


@pytest.mark.parametrize("cell", ["h.call({})", "await h.acall({})"])
@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(31)",
        "import asyncio; await asyncio.sleep(31)",
        "!sleep NAP\nafter = 1",
    ],
)
def test_an_interrupt_ends_the_code_and_the_turn(start, cell, code):
    notebook = start()
    began = notebook.folder / "began"
    nap = f"47.{uuid.uuid4().int}"  # no other test has it
    code = f"open({str(began)!r}, 'x').close()\n{code.replace('NAP', nap)}"
    asked = f"'run_python', {{'code': {code!r}}}"
    request = notebook.execute(
        f"import hermes_jupyter as h\n{cell.format(asked)}", allow_stdin=False
    )
    notebook.until(began.exists, "the code", 10)
    notebook.interrupt()
    assert notebook.status(request, 5) == "error"
    assert notebook.record(request)[MIME]["status"] == "interrupted"
    assert notebook.run("print('after' in dir(), 1 + 1)") == "False 2\n"
    assert notebook.run(f"!ps -eo args | grep -c '[s]leep {nap}'").strip() == "0"


def test_a_flood_of_output_is_cut(start):
    notebook = start()
    answer = python(notebook, "for _ in range(20_000): print('x' * 500)")
    assert len(answer["output"]) < 60_000
    assert "left out here" in answer["output"]


def test_an_error_is_short_for_the_model_and_complete_for_the_person(start):
    notebook = start()
    notebook.run("def inner(row):\n    return row['price']")
    cell = "import hermes_jupyter as h\nh.call('run_python', code='x = 1\\ninner({})')"
    request = notebook.execute(f"{cell}.text", allow_stdin=False)
    assert notebook.status(request) == "ok"
    (called,) = notebook.record(request)[MIME]["events"]
    assert called["status"] == "error"
    assert "KeyError: 'price'" in called["result"]
    assert "2: inner({})" in called["result"]
    assert "Traceback" not in called["result"]
    assert "return row['price']" in called["details"]
    assert "hermes_jupyter/kernel" not in called["details"]
    assert "In full" in notebook.record(request)["text/html"]


@pytest.mark.parametrize(
    "code", ["exit()", "raise SystemExit", "import sys; sys.exit(3)", "quit()"]
)
def test_the_kernel_outlives_an_exit(start, code):
    notebook = start()
    request = notebook.execute(
        f"%hermes call --approve off run_python {json.dumps({'code': code})}", allow_stdin=False
    )
    assert notebook.status(request) == "ok"
    assert "the kernel goes on" in notebook.record(request)["text/plain"]
    assert notebook.run("print('here')") == "here\n"


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.remove('keep.txt')",
        "!rm keep.txt",
        "%%bash\nrm keep.txt",
        "rm keep.txt",
        "gone(path)",
        "from pathlib import Path; Path('keep.txt').unlink()",
        "get_ipython().system('rm ' + path)",
    ],
)
def test_what_deletes_asks_whatever_way_it_is_written(start, code):
    notebook = start()
    (notebook.folder / "keep.txt").write_text("x")
    notebook.run("import os\npath = 'keep.txt'\ndef gone(file):\n    os.remove(file)")
    assert python(notebook, code)["denied_by"] == "policy"
    assert (notebook.folder / "keep.txt").exists()


def test_the_card_tells_what_the_code_does_and_a_click_runs_it(start):
    notebook = start((call("run_python", code="import os\nos.remove('old.log')\n'gone'"),), "Done.")
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("go")
    notebook.show_widgets()
    notebook.click(notebook.button("Allow once"))
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()
    shown = json.dumps([m["content"] for m in notebook.published if m["msg_type"] == "comm_open"])
    assert "deletes old.log" in shown or "old.log" in shown
    assert "'gone'" in notebook.requests()[-1]["messages"][-1]["content"]


def test_what_nobody_may_approve_is_not_run_even_with_approvals_off(start):
    notebook = start()
    notebook.run("root = '/'")
    code = json.dumps({"code": "!rm -rf {root}"})
    request = notebook.execute(f"%hermes call --approve off run_python {code}", allow_stdin=False)
    assert notebook.status(request) == "ok"
    (called,) = notebook.record(request)[MIME]["events"]
    assert called["status"] == "denied"


def test_a_headless_run_runs_what_is_safe(start):
    notebook = start((call("run_python", code="answer = 6 * 7; answer"),), "It is 42.")
    request = notebook.agent("go", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert notebook.run("print(answer)") == "42\n"


def test_variables_are_listed_without_those_of_ipython(start):
    notebook = start()
    notebook.run("import os\nx = 1\n_private = 2\ndef double(n): return 2 * n")
    answer = tool(notebook, "list_variables")
    assert [each["name"] for each in answer["variables"]] == ["x"]
    assert (answer["modules"], answer["functions"]) == (
        ["hermes_jupyter", "json", "os"],
        ["double"],
    ) or ("os" in answer["modules"] and answer["functions"] == ["double"])


def test_looking_at_an_object_runs_none_of_its_code(start):
    notebook = start()
    notebook.run(
        "ran = []\n"
        "class Trap:\n"
        "    def __init__(self): self.size = 3; self.token = 'hunter2hunter2'\n"
        "    def __repr__(self): ran.append('repr'); return 'x' * 10**9\n"
        "    def __len__(self): ran.append('len'); return 1\n"
        "    def __getattr__(self, name): ran.append(name); raise AttributeError\n"
        "    @property\n"
        "    def costly(self): ran.append('costly')\n"
        "trap = Trap()"
    )
    answer = tool(notebook, "inspect_variable", name="trap")
    assert answer["attributes"]["size"] == "3"
    assert "hunter2" not in json.dumps(answer)
    assert "would run its code" in tool(notebook, "inspect_variable", name="trap.costly")["error"]
    tool(notebook, "list_variables")
    assert notebook.run("print(ran)") == "[]\n"


def test_a_variable_of_the_user_is_replaced_only_when_they_agree(start):
    notebook = start()
    notebook.run("mine = 1")
    assert tool(notebook, "save_variable", name="mine", value=2)["denied_by"] == "policy"
    assert tool(notebook, "save_variable", name="fresh", value={"a": 1})["saved"] == "fresh"
    assert tool(notebook, "save_variable", name="fresh", value=[2])["saved"] == "fresh"
    assert notebook.run("print(mine, fresh)") == "1 [2]\n"


def test_a_script_reaches_the_kernel_through_its_tools_alone(start):
    notebook = start()
    notebook.run("import sys; x = 21; out = sys.stdout")
    code = (
        "from hermes_tools import inspect_variable, run_python\n"
        "print(inspect_variable(name='x')['value'], run_python(code='y = x * 2; y')['value'])\n"
        "import sys; sys.stdout = None"
    )
    notebook.run("%config Hermes.toolsets = 'notebook'")
    assert tool(notebook, "execute_code", code=code)["output"] == "21 42\n"
    assert notebook.run("print(y, sys.stdout is out)") == "42 True\n"


@pytest.fixture
def pyplot(start):
    pytest.importorskip("matplotlib")
    notebook = start()
    notebook.run("import matplotlib.pyplot as plt")
    return notebook


def test_a_new_figure_is_shown_below_the_cell_as_a_picture(pyplot):
    answer = python(pyplot, "fig, ax = plt.subplots(); ax.plot([1, 2])")
    assert answer["displayed"] == ["<Figure size 640x480 with 1 Axes>"]
    pictures = [
        m for m in pyplot.published
        if m["msg_type"] == "display_data" and "image/png" in m["content"]["data"]
    ]  # fmt: skip
    assert len(pictures) == 1


def test_the_users_own_plots_are_shown_as_ever_when_the_code_was_the_first_to_plot(start):
    pytest.importorskip("matplotlib")
    notebook = start(fresh=True)
    notebook.run("import matplotlib.pyplot as plt")
    python(notebook, "plt.plot([1, 2])")
    notebook.forget()
    request = notebook.execute("plt.plot([3, 4]);")
    assert notebook.status(request) == "ok"
    assert any("image/png" in bundle for bundle in notebook.bundles(request))


def test_pyplot_is_left_as_it_was(pyplot):
    pyplot.run("%config InlineBackend.close_figures = False\nmine = plt.figure(7); plt.ioff()")
    code = (
        "plt.rcParams['lines.linewidth'] = 9; plt.ion(); plt.figure(); plt.plot([1]); plt.show(); "
        "plt.close('all')"
    )
    python(pyplot, code)
    look = "print(plt.get_fignums(), plt.gcf() is mine, plt.isinteractive())"
    said = pyplot.run(f"{look}; print(plt.rcParams['lines.linewidth'])")
    assert said == "[7] True False\n1.5\n"
    pyplot.run("%config InlineBackend.close_figures = True\nplt.close('all'); plt.ion()")


def test_a_cell_that_the_code_runs_leaves_no_output_behind(start):
    notebook = start()
    notebook.run("7")
    python(notebook, "get_ipython().run_cell('8')")
    assert notebook.run("print(8 in Out.values(), _)") == "False 7\n"


def test_modules_that_were_edited_are_loaded_anew_where_autoreload_is_on(start):
    notebook = start()
    module = notebook.folder / "edited.py"
    module.write_text("value = 1\n")
    notebook.run(
        "%load_ext autoreload\n%autoreload 2\nimport sys; sys.path.insert(0, '')\nimport edited"
    )
    cell = (
        "import hermes_jupyter as h, pathlib, os\n"
        "pathlib.Path('edited.py').write_text('value = 2  # longer\\n')\n"
        "os.utime('edited.py', (2e9, 2e9))\n"
        "print(h.call('run_python', code='edited.value').json()['value'])"
    )
    assert notebook.run(cell, allow_stdin=False).splitlines()[-1] == "2"
    notebook.run("%autoreload 0")
