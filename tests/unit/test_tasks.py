"""The tasks for the local model can be done, and are not done by doing nothing."""

import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.tasks import everyday, held_out  # noqa: E402
from tests.tasks.peer_tools import Folder  # noqa: E402
from tests.tasks.table import line, table  # noqa: E402
from tests.tasks.task import KINDS, Outcome, Task, faults, prepare  # noqa: E402
from tests.tasks.tries import SUITES, Try, suite, tried  # noqa: E402

TASKS = (*everyday.TASKS, *held_out.TASKS)
EDIT = Task(
    name="edit",
    kind="edit",
    prompt="Change a to b in x.txt.",
    files={"x.txt": "a\n", "y.txt": "c\n"},
    leaves={"x.txt": "b\n"},
    says=("changed",),
)


def judged(task, folder, answer, calls=("terminal",), **left):
    """What is wrong when these files were left."""
    prepare(task, folder)
    for name, text in left.items():
        (folder / name.replace("_", ".")).write_text(text)
    return faults(task, folder, Outcome(answer=answer, calls=calls))


def test_there_are_thirty_and_fifteen_of_all_kinds():
    assert [len(tasks) for tasks in SUITES.values()] == [30, 15]
    for tasks in SUITES.values():
        assert set(Counter(task.kind for task in tasks)) == set(KINDS)


def test_no_task_is_in_both_suites():
    assert len({task.name for task in TASKS}) == len({task.prompt for task in TASKS}) == 45


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_doing_nothing_does_no_task(task, tmp_path):
    prepare(task, tmp_path)
    said = faults(task, tmp_path, Outcome(answer="All is done.", calls=()))
    assert said or task.name in ("mara", "dump")  # any words will do; see the next line
    assert faults(task, tmp_path, Outcome())


def test_a_task_that_was_done_has_no_faults(tmp_path):
    assert judged(EDIT, tmp_path, "I changed it.", x_txt="b") == []


@pytest.mark.parametrize(
    ("answer", "left", "fault"),
    [
        ("No.", {"x_txt": "b\n"}, "does not say 'changed'"),
        ("I changed it.", {}, "x.txt holds 'a\\n'"),
        ("I changed it.", {"x_txt": "b\n", "y_txt": "lost"}, "y.txt holds 'lost'"),
        ("I changed it.", {"x_txt": "b\n", "z_txt": "more"}, "z.txt was made"),
    ],
)
def test_what_is_wrong_is_named(answer, left, fault, tmp_path):
    assert judged(EDIT, tmp_path, answer, **left) == [fault]


@pytest.mark.parametrize(("text", "expected"), [("print(1)\n", []), ("print(2)\n", ["prints"])])
def test_a_script_is_run_to_see_what_it_prints(text, expected, tmp_path):
    task = Task(name="s", kind="two-step", prompt="", made={"s.py": "1"})
    found = judged(task, tmp_path, "done", s_py=text)
    assert [word for word in expected if word in str(found)] == expected
    assert bool(found) == bool(expected)


def test_a_question_for_no_tool_must_be_answered_without_one(tmp_path):
    task = Task(name="n", kind="no-tool", prompt="Hi.")
    assert judged(task, tmp_path, "Hello.", calls=()) == []
    assert judged(task, tmp_path, "Hello.", calls=("terminal",)) == ["used tools: terminal"]


def test_a_library_that_fails_has_not_done_the_task():
    def broken(folder):
        raise RuntimeError("no server")

    assert "RuntimeError: no server" in tried(EDIT, broken).faults[0]


def test_each_try_has_a_new_folder():
    def attempt(folder):
        assert (folder.path / "x.txt").read_text() == "a\n"
        (folder.path / "x.txt").write_text("b\n")
        return "changed"

    assert [tried(EDIT, attempt).faults for _ in range(2)] == [[], []]


def test_tasks_are_chosen_by_name_and_kind():
    assert [task.name for task in suite("everyday", ["no-tool", "port"])] == [
        "port", "portugal", "spanish", "mara",
    ]  # fmt: skip


def test_the_tools_of_other_libraries_do_what_ours_do(tmp_path):
    prepare(EDIT, tmp_path)
    tools = {tool.__name__: tool for tool in Folder(EDIT, tmp_path).tools()}
    assert tools["read_file"]("x.txt") == "(1 lines)\n1|a"
    assert tools["patch"]("x.txt", "a", "b") == "ok:\n-a\n+b"
    assert tools["search_files"]("b") == "x.txt:1: b"
    assert tools["search_files"]("y.txt") == "y.txt"
    assert tools["terminal"]("cat x.txt; exit 3") == "b\nexit code 3"
    assert tools["read_file"]("no.txt").startswith("error:")


def test_a_person_who_denies_is_heard_by_other_libraries(tmp_path):
    task = Task(name="d", kind="approval", prompt="", files={"x.txt": "a"}, person="denies")
    prepare(task, tmp_path)
    terminal = Folder(task, tmp_path).tools()[3]
    assert terminal("rm x.txt").startswith("Denied")
    assert terminal("ls") == "x.txt"


def test_the_table_counts_what_was_done():
    tries = [Try(EDIT, [], 1.0, [], "ok"), Try(EDIT, ["no"], 3.0, [], "no")]
    assert table({"ours": tries}).splitlines() == [
        "        ours", "edit    1 of 2, 2.0 s", "all     1 of 2, 2.0 s", "median  2.0 s",
    ]  # fmt: skip


def test_of_a_held_out_task_nobody_is_told_how_it_went():
    said = line("ours", Try(EDIT, ["x.txt is missing"], 1.0, ["terminal"], "no"), secret=True)
    assert "missing" not in said
    assert "terminal" not in said
