"""What a notebook user is promised of ``%hermes undo`` and what belongs to it."""

import os
import re
import signal

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

RECORD = "application/vnd.hermes.turn+json"
COMMAND = "printf 'new\\n' > made.txt; mkdir -p sub/deep; echo x > sub/deep/x; chmod 600 keep.sh"
EDITS = (
    call("patch", mode="replace", path="a.txt", old_string="one", new_string="two"),
    call("write_file", path="b.txt", content="b\n"),
)


@pytest.fixture
def notebook(start):
    """Has a folder with two files; its agent edits by tools, then by a command."""
    notebook = start(
        conversation("change", EDITS, (call("terminal", command=COMMAND),), "Changed."),
        conversation("once more", (call("terminal", command="echo three >> a.txt"),), "Done."),
        conversation("look", (call("terminal", command="ls"),), "Seen."),
    )
    (notebook.folder / "a.txt").write_bytes(b"one\r\nand more\n")
    (notebook.folder / "keep.sh").write_text("#!/bin/sh\n")
    (notebook.folder / "keep.sh").chmod(0o755)
    return notebook


def tree(notebook):
    return {
        str(path.relative_to(notebook.folder)): (
            path.stat().st_mode, path.read_bytes() if path.is_file() else None
        )
        for path in sorted(notebook.folder.rglob("*"))
    }  # fmt: skip


def turn(notebook, prompt, *, first=True):
    """Run a turn to its end; its record. Only the first asks whether the page shows widgets."""
    request = notebook.agent(prompt, "--approve off")
    if first:
        notebook.show_widgets()
    assert notebook.status(request, 40) == "ok"
    return notebook.record(request)


def test_a_turn_of_tools_and_commands_is_undone_and_done_again(notebook):
    before = tree(notebook)
    record = turn(notebook, "change")
    after = tree(notebook)
    assert after != before
    assert "5 files changed · %hermes undo" in record["text/plain"]
    assert record[RECORD]["changed"] == {"file": 5}
    shown = notebook.run("%hermes undo")
    assert tree(notebook) == before
    for line in ("puts back a.txt", "removes b.txt", "removes made.txt", "puts back keep.sh"):
        assert line in shown
    assert "Done: 5 files" in shown
    assert "Done: 5 files" in notebook.run("%hermes redo")
    assert tree(notebook) == after
    notebook.run("%hermes undo")
    assert tree(notebook) == before


def test_a_preview_changes_nothing(notebook):
    turn(notebook, "change")
    after = tree(notebook)
    shown = notebook.run("%hermes undo --preview")
    assert "puts back a.txt" in shown
    assert "this was a preview" in shown
    assert tree(notebook) == after


def test_what_the_person_changed_since_is_left_alone_unless_forced(notebook):
    before = tree(notebook)
    turn(notebook, "change")
    (notebook.folder / "b.txt").write_text("mine\n")
    shown = notebook.run("%hermes undo")
    assert "not b.txt: changed since" in shown
    assert (notebook.folder / "b.txt").read_text() == "mine\n"
    assert "--force also takes" in shown
    notebook.run("%hermes undo --force")
    assert tree(notebook) == before
    notebook.run("%hermes redo")
    assert (notebook.folder / "b.txt").read_text() == "mine\n"


def test_turns_are_undone_one_after_the_other_also_after_a_restart(notebook):
    before = tree(notebook)
    turn(notebook, "change")
    between = tree(notebook)
    turn(notebook, "once more", first=False)
    session = notebook.run(
        "import hermes_jupyter.api as api; print(api.desktop().hermes.session().id)"
    ).strip()
    notebook.run("%unload_ext hermes_jupyter\n%reload_ext hermes_jupyter")
    notebook.run(f"%hermes resume {session}")
    notebook.run("%hermes undo")
    assert tree(notebook) == between
    notebook.run("%hermes undo")
    assert tree(notebook) == before
    failed = notebook.execute("%hermes undo")
    assert notebook.status(failed) == "error"


def test_the_difference_is_shown_and_a_list_of_turns(notebook):
    turn(notebook, "change")
    request = notebook.execute("%hermes diff")
    assert notebook.status(request) == "ok"
    bundle = notebook.bundles(request)[-1]
    assert "-one" in bundle["text/plain"]
    assert "+two" in bundle["text/plain"]
    assert "mode 755 → 600" in bundle["text/plain"]
    assert "<details><summary><code>a.txt</code>" in bundle["text/html"]
    assert "```diff" in bundle["text/markdown"]
    listed = notebook.run("%hermes checkpoints")
    assert re.search(r"1  .*  5 files .*“change”", listed)


def test_files_are_restored_as_they_were_before_a_turn(notebook):
    before = tree(notebook)
    turn(notebook, "change")
    turn(notebook, "once more", first=False)
    shown = notebook.run("%hermes restore 1 a.txt")
    assert (notebook.folder / "a.txt").read_bytes() == b"one\r\nand more\n"
    assert (notebook.folder / "b.txt").exists()
    notebook.run("%hermes restore 1")
    assert tree(notebook) == before
    assert "Done: 1 file." in shown
    notebook.run("%hermes undo")
    assert (notebook.folder / "b.txt").exists()


def test_a_turn_that_changes_nothing_leaves_no_checkpoint(notebook):
    record = turn(notebook, "look")
    assert "undo" not in record["text/plain"]
    assert "No turn in this folder" in notebook.run("%hermes checkpoints")


def test_undo_is_refused_while_a_turn_runs(start):
    notebook = start((call("terminal", command="echo > begun; sleep 31"),), "never")
    begun = notebook.folder / "begun"
    notebook.agent("sleep", "--background --approve off --plain")
    while not begun.exists():
        notebook.run("%hermes status")
    refused = notebook.execute("%hermes undo")
    assert notebook.status(refused) == "error"
    assert "runs now" in str(notebook.replies[refused]["content"])
    notebook.run("%hermes stop")


def test_variables_are_put_back(start):
    notebook = start((call("meddle"),), "Done.")
    notebook.tool(
        "meddle",
        "    ns = get_ipython().user_ns\n"
        "    ns['x'] = 2\n"
        "    ns['items'].append(4)\n"
        "    ns['items'][0]['deep'] = 'b'\n"
        "    ns['fresh'] = 'new'\n"
        "    del ns['old']\n"
        "    return '{}'",
    )
    notebook.run("x = 1; items = [{'deep': 'a'}, 2]; alias = items; old = object(); same = old")
    record = turn(notebook, "go")
    assert record[RECORD]["changed"]["variable"] == 4 + 1  # alias is the same list
    shown = notebook.run("%hermes undo")
    assert "removes variable fresh" in shown
    assert "brings back variable old" in shown
    assert notebook.run("print(x, items, alias is items, old is same, 'fresh' in dir())") == (
        "1 [{'deep': 'a'}, 2] True True False\n"
    )
    shown = notebook.run("%hermes redo")
    assert "brings back variable fresh" in shown
    assert "removes variable old" in shown
    assert notebook.run("print(x, items, alias is items, 'old' in dir(), fresh)") == (
        "2 [{'deep': 'b'}, 2, 4] True False new\n"
    )


def test_a_turn_is_undone_by_the_next_kernel_also_if_this_one_was_killed_in_it(start, tmp_path):
    named = {"JPY_SESSION_NAME": str(tmp_path / "work" / "sales.ipynb")}
    script = conversation(
        "change",
        (call("write_file", path="a.txt", content="new\n"),),
        (call("terminal", command="rm b.txt; sleep 41"),),
        "never",
    )
    first = start(script, fresh=True, env=named)
    for name in ("a.txt", "b.txt"):
        (first.folder / name).write_text("old\n")
    before = tree(first)
    first.agent("change", "--approve off")
    gone = first.folder / "b.txt"
    while gone.exists():
        first.control("kernel_info_request", {})
    os.kill(first.manager.provisioner.pid, signal.SIGKILL)
    second = start(fresh=True, env=named)
    listed = second.run("%hermes checkpoints")
    assert "its kernel ended in the middle of it" in listed
    shown = second.run("%hermes undo")
    assert "brings back b.txt" in shown
    assert "its kernel ended in the middle of it" in shown
    assert tree(second) == before


def test_what_variables_were_is_not_known_after_a_restart(start, tmp_path):
    named = {"JPY_SESSION_NAME": str(tmp_path / "work" / "sales.ipynb")}
    first = start((call("meddle"),), "Done.", fresh=True, env=named)
    first.tool("meddle", "    get_ipython().user_ns['x'] = 2\n    return '{}'")
    first.run("x = 1")
    turn(first, "go")
    first.run("print(x)")
    os.kill(first.manager.provisioner.pid, signal.SIGKILL)
    second = start(fresh=True, env=named)
    shown = second.run("%hermes undo")
    assert "not variable x: the kernel that had it has ended" in shown
    assert "Nothing was changed." in shown


def test_the_footer_of_a_turn_in_plain_text_says_how_to_undo_it(notebook):
    request = notebook.agent("change", "--approve off --plain")
    assert notebook.status(request, 40) == "ok"
    assert "5 files changed · %hermes undo" in notebook.text(request)


def test_calls_by_hand_are_undone_as_well(notebook):
    notebook.run("%hermes call --approve off terminal command='rm a.txt'")
    assert not (notebook.folder / "a.txt").exists()
    assert "brings back a.txt" in notebook.run("%hermes undo")
    assert (notebook.folder / "a.txt").exists()


def test_without_room_nothing_is_kept(notebook):
    notebook.run("%config Hermes.checkpoint_space = 0")
    record = turn(notebook, "change")
    assert "undo" not in record["text/plain"]
    failed = notebook.execute("%hermes undo")
    assert notebook.status(failed) == "error"
    assert "checkpoint_space" in str(notebook.replies[failed]["content"])
