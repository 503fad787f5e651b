"""Output where it belongs: in the cell that asked for it, all of it, in order, bounded."""

import json

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

TEXT = "jp-RenderedHTMLCommon hermes-text"
RECORD = "application/vnd.hermes.turn+json"


def streams(notebook, request):
    return notebook.text(request)


def displays(notebook, request):
    """What was displayed below a cell, without widgets and records."""
    return [
        bundle
        for bundle in notebook.bundles(request)
        if RECORD not in bundle and "application/vnd.jupyter.widget-view+json" not in bundle
    ]


def test_nb_009_a_tool_of_a_turn_in_the_background_prints_nothing_below_other_cells(start):
    notebook = start((call("talks"),), "All said.")
    notebook.tool(
        "talks",
        "    import time\n"
        "    for n in range(20):\n"
        "        print('said', n, flush=True); time.sleep(0.02)\n"
        "    return '{}'",
    )
    background = notebook.agent("go", "--background")
    assert notebook.status(background) == "ok"
    slow = "import time; time.sleep(0.05); print('mine {}')"
    others = [notebook.execute(slow.format(n)) for n in range(4)]
    for n, other in enumerate(others):
        assert notebook.status(other) == "ok"
        assert streams(notebook, other) == f"mine {n}\n"
    notebook.until(lambda: any(RECORD in b for b in notebook.bundles(background)), "the record")
    assert streams(notebook, background) == "".join(f"said {n}\n" for n in range(20))


def test_nb_010_a_pool_of_an_earlier_cell_prints_below_the_cell_that_calls_the_agent(start):
    steps = ((call("talks"),), "Said.")
    notebook = start(conversation("first", *steps), conversation("second", *steps))
    notebook.tool("talks", "    print('from the tool', flush=True)\n    return '{}'")
    first = notebook.agent("first")
    assert notebook.status(first) == "ok"
    second = notebook.agent("second")
    assert notebook.status(second) == "ok"
    assert streams(notebook, first) == streams(notebook, second) == "from the tool\n"


def test_nb_011_a_tool_in_a_thread_displays_each_thing_once_and_in_order(start):
    pytest.importorskip("matplotlib")
    pandas = pytest.importorskip("pandas")
    notebook = start((call("shows"),), "Shown.")
    notebook.tool(
        "shows",
        "    import pandas\n"
        "    from IPython.display import display\n"
        "    from matplotlib.figure import Figure\n"
        "    figure = Figure(figsize=(2, 1)); figure.subplots().plot([1, 2])\n"
        "    display(pandas.DataFrame({'a': [1]})); display(figure)\n"
        "    return '{}'",
    )
    request = notebook.agent("go")
    assert notebook.status(request, 40) == "ok"
    shown = displays(notebook, request)
    assert ["text/html" in bundle for bundle in shown] == [True, False]
    assert "Figure" in shown[1]["text/plain"]
    assert pandas


def test_nb_012_a_program_that_gets_sys_stdout_fails_as_a_tool_and_the_turn_goes_on(start):
    notebook = start((call("passes"), call("terminal", command="echo ours")), "Done.")
    notebook.tool(
        "passes",
        "    import subprocess, sys, io\n"
        "    class Broken:\n"
        "        def fileno(self): raise io.UnsupportedOperation('fileno')\n"
        "    subprocess.run(['echo', 'x'], stdout=Broken(), check=True)\n"
        "    return '{}'",
    )
    request = notebook.agent("go")
    assert notebook.status(request) == "ok"
    failed, ours = (m["content"] for m in notebook.requests()[-1]["messages"][-2:])
    assert "fileno" in json.loads(failed)["error"]
    assert json.loads(ours)["output"].strip() == "ours"


def test_nb_013_streams_that_can_only_write_do_not_keep_a_turn_from_ending(start):
    notebook = start((call("talks"),), "Done.", fresh=True)
    notebook.tool("talks", "    print('heard')\n    return '{}'")
    request = notebook.execute(
        "import sys\n"
        "class Only:\n"
        "    def __init__(self): self.said = []\n"
        "    def write(self, text): self.said.append(text); return len(text)\n"
        "before = sys.stdout, sys.stderr\n"
        "sys.stdout = sys.stderr = only = Only()\n"
        "get_ipython().run_cell_magic('agent', '', 'go')\n"
        "sys.stdout, sys.stderr = before  # else ipykernel itself fails\n"
        "print(''.join(only.said))"
    )
    assert notebook.status(request) == "ok"
    assert notebook.record(request)[RECORD]["status"] == "done"
    assert "heard" in streams(notebook, request)


def test_nb_029_all_that_comes_after_a_clear_is_there_and_in_order(start):
    code = (
        "import threading\n"
        "from IPython.display import clear_output\n"
        "def talk():\n"
        "    for n in range(200):\n"
        "        if n == 100: clear_output(wait=WAIT)\n"
        "        print('chunk', n)\n"
        "thread = threading.Thread(target=talk); thread.start(); thread.join()"
    )
    wanted = "".join(f"chunk {n}\n" for n in range(100, 200))
    notebook = start()
    for wait in ("False", "True"):
        args = {"code": code.replace("WAIT", wait)}
        asked = f"import hermes_jupyter as h\n_r = h.call('run_python', **{args!r})\nprint(_r.text)"
        answer = json.loads(notebook.run(asked, allow_stdin=False).splitlines()[-1])
        assert answer["output"] == wanted


def test_a_thread_of_the_users_clears_its_own_cell_and_not_what_the_code_has_printed(start):
    notebook = start()
    notebook.run(
        "import threading\nfrom IPython.display import clear_output\n"
        "go, done = threading.Event(), threading.Event()\n"
        "def other():\n    go.wait(); clear_output(); done.set()\n"
        "threading.Thread(target=other).start()"
    )
    code = "print('kept'); go.set(); done.wait(5); print('and more')"
    asked = f"import hermes_jupyter as h\n_r = h.call('run_python', code={code!r})\nprint(_r.text)"
    answer = json.loads(notebook.run(asked, allow_stdin=False).splitlines()[-1])
    assert answer["output"] == "kept\nand more\n"


def test_nb_030_five_thousand_tokens_cost_what_their_text_costs(start):
    notebook = start("word " * 5_000)
    request = notebook.agent("write")
    notebook.show_widgets()
    assert notebook.status(request, 60) == "ok"
    changes = [m["content"] for m in notebook.of(request) if m["msg_type"].startswith("comm")]
    text = [each for each in changes if TEXT in json.dumps(each)]
    assert sum(len(json.dumps(each)) for each in text) < 3 * 25_000
    last = {each["comm_id"]: each["data"]["state"]["value"] for each in text}
    assert sum(value.count("word") for value in last.values()) == 5_000


FLOODS = {
    "stdout": "import sys\nfor _ in range(100): sys.stdout.write('x' * 99_999 + chr(10))",
    "one line": "print('x' * 10_000_000)",
    "display": "from IPython.display import HTML, display\ndisplay(HTML('<p>' + 'x' * 10_000_000))",
    "value": "'x' * 10_000_000",
    "command": "!seq -f 'line %.0f' 100000",
}


@pytest.mark.parametrize("code", FLOODS.values(), ids=FLOODS)
def test_ten_megabytes_of_output_do_not_reach_the_page(start, code):
    notebook = start((call("run_python", code=code),), "Done.")
    request = notebook.agent("go", allow_stdin=False)
    assert notebook.status(request, 60) == "ok"
    sent = sum(len(json.dumps(m["content"])) for m in notebook.of(request))
    assert sent < 600_000
    assert len(json.dumps(notebook.requests()[-1]["messages"][-1])) < 120_000


def test_ten_megabytes_that_code_prints_are_kept_whole(start):
    code = "print('a' * 5_000_000); print('the middle'); print('b' * 5_000_000)"
    notebook = start(
        (call("run_python", code=code),),
        (call("read_result", handle="r1", pattern="the middle"),),
        "Read.",
    )
    assert notebook.status(notebook.agent("go", allow_stdin=False), 60) == "ok"
    printed, found = (json.loads(m["content"]) for m in notebook.requests()[-1]["messages"][-3::2])
    assert "read_result(handle='r1'" in printed["cut"]
    assert [place["line"] for place in found["matches"]] == [2]


def test_a_display_that_is_too_large_is_said_to_be_left_out(start):
    notebook = start((call("run_python", code=FLOODS["display"]),), "Done.")
    request = notebook.agent("go", allow_stdin=False)
    assert notebook.status(request, 60) == "ok"
    (shown,) = displays(notebook, request)
    assert "10.0 MB was left out" in shown["text/plain"]


def test_a_hundred_thousand_lines_of_a_command_are_kept_whole_and_little_is_sent(start):
    notebook = start(
        (call("terminal", command="seq -f 'line %.0f of many' 100000"),),
        (call("read_result", handle="r1", pattern="line 77777 of"),),
        "Read.",
    )
    request = notebook.agent("go")
    notebook.show_widgets()
    assert notebook.status(request, 60) == "ok"
    sent = sum(len(json.dumps(m["content"])) for m in notebook.of(request))
    assert sent < 600_000
    assert "line 77777 of many" in notebook.requests()[-1]["messages"][-1]["content"]
