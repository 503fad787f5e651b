"""Ejected code makes the same files without an agent."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from hermes_jupyter.calls import ApprovalRequest, ToolCall, ToolResult
from hermes_jupyter.eject.code import as_code, as_notebook
from hermes_jupyter.eject.diffs import UnclearDiff, apart
from hermes_jupyter.eject.steps import literal, steps_of
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    ToolCallFinished,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn_values import TurnOptions

V4A = """*** Begin Patch
*** Add File: lib/new.py
+x = 1
+y = 'ü'
*** Update File: crlf.txt
@@
 two
-three
+drei
*** Delete File: old.txt
*** End Patch"""
AWKWARD = "tab\t\"\"\" ''' \\ \\n {x} ü \u202e 😀\r\n\x0c\n  trailing  \n\nno end"


def sh(command, **more):
    return call("terminal", command=command, **more)


def replaced(path, old, new):
    return call("patch", mode="replace", path=path, old_string=old, new_string=new)


CRLF = r"printf 'one\r\ntwo\r\nthree\r\n' > ../crlf.txt"
STEPS = (
    sh("mkdir -p data && cd data && export WHO=me && greet() { echo hi $1; }"),
    call("write_file", path="a.txt", content=AWKWARD),
    sh(f'greet "$WHO" > hi.txt\n{CRLF}'),
    sh("cd ..; rm -f data/nothing; touch old.txt; false"),
    call("write_file", path="crlf.txt", content="one\ntwo\nthree\n"),
    call("write_file", path="sub/deep/b.py", content="def f():\n    return 1\n"),
    replaced("sub/deep/b.py", "    return 1", "    return 2"),
    replaced("sub/deep/b.py", "def f():  \nreturn 2", "def g():\nreturn 2"),
    call("patch", mode="patch", patch=V4A),
    sh("pwd | xargs basename > here.txt", workdir="sub"),
    sh("echo $WHO >> data/hi.txt"),
    call("read_file", path="crlf.txt"),
    sh("printf 'no newline' > end.txt"),
    replaced("end.txt", "no newline", "still\nnone"),
)


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def turn(tmp_path, monkeypatch):
    """A function that has these calls made in a folder; the events, and the folder."""

    def made(*calls, folder="work"):
        place = tmp_path / folder
        place.mkdir()
        monkeypatch.chdir(place)
        events = []

        async def work():
            hermes = Hermes(Settings(home=tmp_path / "home", base_url="http://127.0.0.1:9/v1"))
            model = ScriptedModel(*[(one,) for one in calls], "Done.")
            hermes.model = lambda settings: model
            options = TurnOptions(approve="off", tools=("file", "terminal"))
            try:
                await hermes.turn(
                    'Do “it” \'all\'\n""" please',
                    session=hermes.session(),
                    options=options,
                    listeners=[events.append],
                )
            finally:
                await hermes.close()

        asyncio.run(work())
        return events, place

    return made


def run(code, folder):
    folder.mkdir()
    script = folder.parent / f"{folder.name}.py"
    script.write_text(code, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-I", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_files_are_the_same_byte_for_byte(turn, tmp_path):
    events, place = turn(*STEPS)
    done = run(as_code(events, str(place)), tmp_path / "fresh")
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "fresh") == tree(place)
    assert tree(place)["sub/here.txt"] == b"sub\n"
    assert tree(place)["crlf.txt"] == b"one\r\ntwo\r\ndrei\r\n"
    assert b"def g():" in tree(place)["sub/deep/b.py"]
    assert "exit code 1" in done.stdout


def test_whole_paths_become_those_of_the_new_folder(turn, tmp_path):
    place = tmp_path / "work"
    events, _ = turn(
        call("write_file", path=str(place / "a.txt"), content="x\n"),
        call("terminal", command="mkdir b; cd b"),
        call("write_file", path=str(place / "c.txt"), content="y\n"),
        call("patch", mode="replace", path=str(place / "c.txt"), old_string="y", new_string="z"),
    )
    before = tree(place)
    done = run(as_code(events, str(place)), tmp_path / "fresh")
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "fresh") == before == tree(place)


def test_a_notebook_has_the_prompt_and_a_cell_for_each_step(turn):
    events, place = turn(*STEPS[:3])
    notebook = nbformat.reads(as_notebook(events, str(place)), 4)
    nbformat.validate(notebook)
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds == ["markdown", "code", "code", "code", "code"]
    assert notebook.cells[0].source.startswith('> Do “it” \'all\'\n> """ please')
    assert notebook.cells[2].source.startswith("turn.sh('mkdir -p data")
    code = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    ast.parse(code)


def test_a_turn_without_calls_has_nothing_to_run(turn):
    events, place = turn()
    code = as_code(events, str(place))
    assert "called no tool" in code
    assert "class Steps" not in code


def test_what_was_only_looked_at_is_a_comment(turn):
    events, place = turn(call("read_file", path="nothing.txt"))
    assert "# looked: read_file path='nothing.txt'" in as_code(events, str(place))


def test_what_was_done_to_cells_is_left_to_the_notebook():
    ran = tool_call("run_cell", cell="load-0001")
    code = as_code(turn_of((ran, end('{"output": "x"}'))), "")
    assert "# ran a cell of the notebook: run it there: run_cell cell='load-0001'" in code
    failed = as_code(turn_of((ran, end('{"error": "no"}', "error"))), "")
    assert "failed, and is left out" in failed


def turn_of(*pairs, decided=()):
    calls = tuple(one for one, _ in pairs)
    ends = [ToolCallFinished(result=replace(result, call=one)) for one, result in pairs]
    return [
        TurnStarted(session="s", turn="t", prompt="p", model="m", steps=9),
        BatchStarted(calls=calls),
        *decided,
        *ends,
        TurnFinished(status="done", text=""),
    ]


def tool_call(name="terminal", number=1, **args):
    return ToolCall(id=f"c{number}", name=name, args=args)


def end(text='{"output": "", "exit_code": 0}', status="ok"):
    return ToolResult(call=tool_call(), text=text, status=status)


@pytest.mark.parametrize(
    ("one", "result", "why"),
    [
        (tool_call(command="rm x"), end(status="denied"), "was denied, so it did not run"),
        (tool_call(command="sleep 9"), end(status="timeout"), "took too long"),
        (tool_call(command="sleep 9"), end(status="interrupted"), "was interrupted"),
        (tool_call(command="serve", background=True), end(), "ran in the background"),
        (tool_call(command="x"), end('{"error": "no shell"}', "error"), "failed before it ran"),
        (tool_call("write_file", path="a", content="x"), end("{}", "error"), "failed"),
        (tool_call("write_file", path="a", content="k=«secret:sk-:1f3a9c2b»"), end(), "a secret"),
        (tool_call(command="echo «redacted:sk-…»"), end(), "a secret"),
        (tool_call("delegate_task", goal="all"), end(), "cannot be done without the agent"),
        (tool_call("patch", mode="replace"), end("{}"), "its answer does not show"),
        (
            tool_call("patch", mode="replace"),
            end(
                json.dumps({"diff": "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n…[cut: 9 lines more]"})
            ),
            "more than its answer shows",
        ),
    ],
)
def test_a_step_that_cannot_be_ejected_says_why(one, result, why):
    (step,) = steps_of(turn_of((one, result)))
    assert step.code == ""
    assert why in step.comment
    assert one.name in step.comment
    assert "\n" not in step.comment


def test_what_a_person_made_of_a_command_is_what_is_ejected():
    one = tool_call(command="rm -r .")
    request = ApprovalRequest(id="r", call=one, reason="", shown="", cwd="", grant="", digest="",
                              editable="command")  # fmt: skip
    decided = [ApprovalResolved(request=request, decision="once", by="widget", edited="rm x")]
    (step,) = steps_of(turn_of((one, end()), decided=decided))
    assert step.code == "turn.sh('rm x')"


def test_python_is_the_code_itself():
    one = tool_call("run_python", code="df = load()\ndf.head()")
    code = as_code(turn_of((one, end("{}"))))
    assert code.endswith("df = load()\ndf.head()\n")
    assert "class Steps" not in code


def test_a_cell_magic_needs_a_cell_of_its_own():
    one = tool_call("run_python", code="%%time\nx = 1")
    events = turn_of((one, end("{}")))
    ast.parse(as_code(events))
    assert nbformat.reads(as_notebook(events), 4).cells[-1].source == "%%time\nx = 1"


@pytest.mark.parametrize(
    "text",
    ["", "x", "a\nb", "a\nb\n", '"""', '\n"""\n', 'a\n"', "\\\n\\", "a\r\nb\rc", "\0\n\x1b[31m",
     "ü😀\n", "\ud800\nx", "\u2028\n\u202e", "'\n'''\n", "\\N{x}\n\\u12\n", "\n\n\n", " \n\t\n"],
)  # fmt: skip
def test_a_text_is_written_so_that_it_is_read_as_it_was(text):
    assert ast.literal_eval(literal(text)) == text
    source = literal(text).encode("utf-8", "strict")
    read = source.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    assert ast.literal_eval(read) == text


def test_a_hostile_prompt_stays_a_comment():
    events = turn_of((tool_call(command="ls"), end()))
    started = replace(events[0], prompt="x\r\nimport os\u2028os.abort()\x0cboom()")
    code = as_code([started, *events[1:]])
    tree = ast.parse(code)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "os"]


def test_a_diff_is_taken_apart_by_its_counts_not_by_its_looks():
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n-x\n+y\n"
    (file,) = apart(diff)
    assert (file.name, file.kind, len(file.hunks)) == ("x", "changed", 5)
    with pytest.raises(UnclearDiff):
        [*apart("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n")]
    with pytest.raises(UnclearDiff):
        [*apart("Binary file x differs\n")]


def test_a_patch_that_does_not_fit_is_an_error(turn, tmp_path):
    events, place = turn(
        call("terminal", command="printf 'a\\nb\\n' > x"),
        call("patch", mode="replace", path="x", old_string="b", new_string="c"),
    )
    code = as_code(events, str(place)).replace("printf 'a", "printf 'q")
    done = run(code.replace("printf \\'a", "printf \\'q"), tmp_path / "fresh")
    assert done.returncode == 1
    assert "x, line 1 is not 'a'" in done.stderr
    assert Path(tmp_path / "fresh" / "x").read_bytes() == b"q\nb\n"
