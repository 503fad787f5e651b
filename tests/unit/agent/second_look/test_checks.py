"""Answers that do not fit what the tools said, and right ones that are left alone."""

import json

import pytest

from hermes_jupyter.agent.second_look import SecondLook
from hermes_jupyter.calls import ToolCall, ToolResult


def did(name, args, *, status="ok", exit_code=0, **result):
    """A call with this name, and what the tool said."""
    call = ToolCall(id="1", name=name, args=args)
    text = json.dumps(result)
    return ToolResult(call=call, text=text, status=status, exit_code=exit_code, args=args)


def read(path, *lines):
    numbered = "\n".join(f"{n}|{line}" for n, line in enumerate(lines, 1))
    return did("read_file", {"path": path}, content=numbered, total_lines=len(lines))


def ran(command, output="", **more):
    return did("terminal", {"command": command}, output=output, **more)


@pytest.fixture
def objection():
    """The objection to an answer after these results; "" if there is none."""

    def look(request, answer, *results):
        second = SecondLook(request)
        second.note(results)
        found = second.objection(answer)
        return found.to_model if found else ""

    return look


DENIED = did("terminal", {"command": "rm -r old"}, status="denied", error="Denied: no.")
READ_CSV = read("a.csv", "item,price", "lamp,34.90", "desk,1200")
SERVER = read("s.yaml", "port: 8080")


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("What is in a.txt?", "It says hello."),
        ("How many files are in this folder?", "There are 3 files."),
        ("Change x to y in a.txt.", "I changed x to y."),
        ("Find the file about rent.", "It is rent.txt."),
    ],
)
def test_files_must_have_been_looked_at(objection, request_, answer):
    assert "used no tool" in objection(request_, answer)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("What is the capital of France?", "Paris."),
        ("How do I open a file in Python?", "With open()."),
        ("Translate 'file' into French.", "fichier"),
        ("Hello, I am Sam.", "Hello Sam."),
        ("What is 17 * 23?", "391"),
    ],
)
def test_what_needs_no_tool_is_answered_at_once(objection, request_, answer):
    assert objection(request_, answer) == ""


def test_a_named_file_must_not_be_left_out(objection):
    request = "Compare a.txt with b.txt."
    assert "Nothing was done with b.txt" in objection(request, "Alike.", read("a.txt", "x"))
    assert objection(request, "Alike.", read("a.txt", "x"), read("b.txt", "x")) == ""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("I changed the port to 9090.", "no tool did it"),
        ("The port has been changed to 9090.", "no tool did it"),
        ("The port is 9090.", "not done yet"),
    ],
)
def test_a_change_that_no_tool_made_is_not_believed(objection, answer, said):
    assert said in objection("Change the port in s.yaml to 9090.", answer, SERVER)


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        ("I changed the port.", [did("patch", {"path": "s.yaml"}, diff="", success=True)]),
        ("I set it to 9090.", [SERVER, ran("sed -i s/8080/9090/ s.yaml")]),
        ("I could not change it: s.yaml has no port.", [SERVER]),
    ],
)
def test_a_change_that_was_made_or_is_not_claimed_is_believed(objection, answer, results):
    assert objection("Change the port in s.yaml to 9090.", answer, *results) == ""


def test_who_is_to_copy_a_file_is_told_of_commands(objection):
    request = "Copy a.txt to b/a.txt."
    failed = did("patch", {"path": "a.txt b/a.txt"}, status="error", error="no")
    assert "terminal: cp" in objection(request, "I copied it.", failed)


def test_what_failed_must_not_be_claimed(objection):
    failed = ran("rm old.txt", exit_code=1, error="busy")
    request = "Delete old.txt."
    assert "failed" in objection(request, "old.txt has been deleted.", ran("ls old.txt"), failed)
    assert objection(request, "old.txt was not deleted: busy.", failed, failed) == ""


def test_an_answer_cannot_come_from_errors(objection):
    failed = did("read_file", {"path": "x.py"}, status="error", error="No such file.")
    request = "Where is LIMIT set?"
    assert "All your calls failed" in objection(request, "It is set in a.py.", failed)
    assert objection(request, "There is no such file.", failed) == ""
    assert objection(request, "It is set in a.py.", failed, read("a.py", "LIMIT = 1")) == ""


def test_what_was_denied_must_not_be_claimed(objection):
    assert "Tell the user so" in objection("Delete old.", "old has been deleted.", DENIED)
    assert objection("Delete the folder old.", "You denied it, so it is there.", DENIED) == ""


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        ("It has 3 errors.", [ran("grep -c ERROR a.log", "3\n")]),
        ("Three lines.", [read("a.log", "x", "y", "z")]),
        ("3", [did("search_files", {"pattern": "ERROR", "path": "a.log"}, total_count=3)]),
    ],
)
def test_a_number_that_a_tool_counted_is_believed(objection, answer, results):
    assert objection("How many errors are in a.log?", answer, *results) == ""


def test_a_number_that_the_model_counted_is_not(objection):
    said = objection("How many errors are in a.log?", "4 errors.", read("a.log", "E", "I", "E"))
    assert "grep -c" in said


@pytest.mark.parametrize(
    ("request_", "command", "output", "expected"),
    [
        ("How many people are in a.csv?", "wc -l a.csv", "13 a.csv\n", True),
        ("How many people are in a.csv?", "cat a.csv | wc -l", "13\n", True),
        ("How many people are in a.csv?", "tail -n +2 a.csv | wc -l", "13\n", False),
        ("How many lines are in a.csv?", "wc -l a.csv", "13 a.csv\n", False),
        ("How many words are in a.txt?", "wc -l a.txt", "13 a.txt\n", False),
    ],
)
def test_the_header_of_a_table_is_no_row(objection, request_, command, output, expected):
    said = objection(request_, "There are 13.", ran(command, output))
    assert ("tail -n +2" in said) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The lamp costs 34.90.", False),
        ("The lamp costs 34.9 euros.", False),
        ("The desk costs 1,200.", False),
        ("The lamp costs 43.90.", True),
        ("There are 2 things in a.csv.", False),
    ],
)
def test_a_number_must_come_from_somewhere(objection, answer, expected):
    said = objection("What does the lamp in a.csv cost?", answer, READ_CSV)
    assert ("is in no result" in said) == expected


def test_a_file_that_a_file_points_to_is_read(objection):
    start = read("start.txt", "The word is in door.txt.")
    request = "start.txt says where the word is. What is the word?"
    assert "have not read it" in objection(request, "It is in door.txt.", start)
    door = read("door.txt", "word: tulip")
    assert objection(request, "The word is tulip.", start, door) == ""
    asked = "Which file does start.txt point to?"
    assert objection(asked, "It points to door.txt.", start) == ""


def test_what_was_printed_is_told(objection):
    made = did("write_file", {"path": "a.py"}, bytes_written=9)
    request = "Write a.py, which prints 42, and run it."
    assert "42" in objection(request, "The script ran.", made, ran("python a.py", "42\n"))
    assert objection(request, "It printed 42.", made, ran("python a.py", "42\n")) == ""
    assert objection(request, "It ran and printed nothing.", made, ran("python a.py", "")) == ""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("It is set in s.yaml.", True), ("s.yaml sets 8080.", False), ("s.yaml has no port.", False)],
)
def test_a_value_that_was_asked_for_is_said(objection, answer, expected):
    said = objection("Where is the port set in s.yaml, and which port is it?", answer, SERVER)
    assert ("asks for a value" in said) == expected


def test_where_the_tools_said_no_value_none_is_missed(objection):
    wordy = read("a.txt", "color: blue")
    assert objection("Which value has color in a.txt?", "It is blue.", wordy) == ""


def test_words_of_the_request_do_not_tell_what_was_printed(objection):
    request = "Write s.py, which prints the squares of 1 to 3, and run it."
    results = [did("write_file", {"path": "s.py"}), ran("python s.py", "1\n4\n9\n")]
    assert "Say what it printed" in objection(
        request, "It printed the squares of 1 to 3.", *results
    )
    assert objection(request, "It printed 1, 4 and 9.", *results) == ""


def test_an_answer_that_repeats_the_question_is_asked_again(objection):
    seen = read("a.py", "def spread(v):", "    return max(v) - min(v)")
    request = "What does the function spread in a.py return?"
    assert "max(v)" in objection(request, "It returns the spread.", seen)
    assert objection(request, "It returns the largest minus the smallest.", seen) == ""


@pytest.mark.parametrize(
    ("diff", "expected"),
    [
        ("@@ -1,3 +1,3 @@\n a\n-debug = yes\n+ = yes\n b\n", "sed -i 2d o.ini"),
        ("@@ -1,3 +1,2 @@\n a\n-debug = yes\n b\n", ""),
    ],
)
def test_a_line_that_was_to_go_is_gone_as_a_whole(objection, diff, expected):
    args = {"path": "o.ini", "old_string": "debug", "new_string": ""}
    said = objection("Remove the debug line from o.ini.", "Done.", did("patch", args, diff=diff))
    assert expected in said
    assert bool(said) == bool(expected)
