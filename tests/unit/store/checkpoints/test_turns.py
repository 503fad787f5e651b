"""What a turn's checkpoint holds, and what it leaves to others."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.checkpoints import looking, rows
from hermes_jupyter.store.checkpoints.room import used_bytes
from hermes_jupyter.store.checkpoints.states import state_at
from hermes_jupyter.store.checkpoints.undoing import carry_out, restore, undo


def names(planned, verdict):
    return sorted(name(step.path) for step in planned.steps if step.verdict == verdict)


def name(path):
    return Path(os.fsdecode(path)).name


def test_a_turn_without_effects_leaves_nothing_on_disk(work):
    work.recorder().end()
    assert not work.store.folder.exists()
    assert work.store.turns() == []


def test_a_turn_whose_commands_change_nothing_is_not_listed(work):
    (work.folder / "a").write_text("a")
    with work.turn():
        pass
    assert work.store.turns() == []


def test_only_the_user_may_look_into_the_store(work):
    with work.turn(command=False) as recorder:
        recorder.before([str(work.folder / "a")])
        (work.folder / "a").write_text("a")
    assert work.store.folder.stat().st_mode & 0o777 == 0o700
    assert work.store.database.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "folder", [".git", "node_modules", ".venv", "__pycache__", "env"]
)  # fmt: skip
def test_repositories_environments_and_caches_are_not_looked_into(work, folder):
    (work.folder / "env").mkdir()
    (work.folder / "env" / "pyvenv.cfg").touch()
    with work.turn():
        (work.folder / "a").write_text("a")
        (work.folder / folder).mkdir(exist_ok=True)
        (work.folder / folder / "b").write_text("b")
    assert folder + "/b" not in work.changed()
    assert "a" in work.changed()


@pytest.mark.parametrize("name", [".jupyter_ystore.db", ".jupyter_ystore.db-wal"])
def test_what_the_server_of_a_shared_notebook_writes_meanwhile_is_not_the_turns(work, name):
    (work.folder / name).write_text("typed")
    with work.turn():
        (work.folder / "a").write_text("a")
        (work.folder / name).write_text("typed and typed")
    assert [*work.changed()] == ["a"]


def test_a_file_that_is_only_touched_is_not_changed(work):
    path = work.folder / "a"
    path.write_text("a")
    with work.turn():
        path.write_text("a")
        os.utime(path)
    assert work.store.turns() == []


def test_contents_that_are_known_are_not_read_again(work, monkeypatch):
    for number in range(20):
        (work.folder / str(number)).write_text(str(number))
    old = [work.folder / str(number) for number in range(20)]
    for path in old:
        os.utime(path, (1, 1))
    with work.turn():
        (work.folder / "new").write_text("x")
    _settle(work)
    read = []

    def heard(path, *more):
        read.append(path)
        return state_at(path, *more)

    monkeypatch.setattr(looking, "state_at", heard)
    with work.turn():
        (work.folder / "3").write_text("changed")
    assert {name(path) for path in read} == {"3"}


def _settle(work):
    """Look once more, when the times of all files are old."""
    work.store.look()
    with work.store.database.write() as connection:
        connection.execute("UPDATE known SET settled = 1")


def test_a_large_file_is_named_and_cannot_be_brought_back(make_work):
    work = make_work(most_file_bytes=100)
    (work.folder / "large").write_bytes(b"x" * 101)
    (work.folder / "small").write_bytes(b"x")
    with work.turn():
        (work.folder / "large").write_bytes(b"y" * 102)
        (work.folder / "small").write_bytes(b"y")
    planned = undo(work.store, work.last, force=False)
    assert names(planned, "lost") == ["large"]
    assert names(planned, "do") == ["small"]
    assert "not kept" in planned.steps[0].why


def test_a_tool_that_tells_what_it_changes_has_large_files_kept(make_work):
    work = make_work(most_file_bytes=100)
    path = work.folder / "large"
    path.write_bytes(b"x" * 3_000_000)
    with work.turn() as recorder:
        recorder.before([str(path)])
        path.unlink()
        recorder.after([str(path)])
    work.undo()
    assert path.read_bytes() == b"x" * 3_000_000


def test_of_too_many_entries_the_nearest_are_covered_and_it_is_said(make_work):
    work = make_work(most_entries=30)
    for folder in ("d", "e"):
        (work.folder / folder).mkdir()
        for number in range(40):
            (work.folder / folder / str(number)).touch()
    (work.folder / "near").write_text("a")
    with work.turn():
        (work.folder / "near").write_text("b")
        for folder in ("d", "e"):
            (work.folder / folder / "3").write_text("seen in one of them")
    assert len(work.changed() & {"d/3", "e/3"}) == 1
    assert "near" in work.changed()
    said = "what commands change in 1 folder is not covered (more than 30 entries)"
    assert work.last.notes == (said,)
    with work.turn():
        pass
    assert work.warnings == [f"for %hermes undo, {said}"]


def test_the_notebook_that_the_front_end_saves_is_not_the_commands_doing(tmp_path, make_work):
    work = make_work(notebook=str(tmp_path / "work" / "n.ipynb"))
    with work.turn():
        (work.folder / "n.ipynb").write_text("{}")
        (work.folder / "a").write_text("a")
    assert work.changed() == {"a"}


def test_another_notebook_that_was_found_changed_is_taken_back_only_if_forced(work):
    other = work.folder / "other.ipynb"
    other.write_text("saved before")
    with work.turn():
        other.write_text("saved by its page")
        (work.folder / "a").touch()
    turn = work.last
    assert names(work.undo(turn), "conflict") == ["other.ipynb"]
    assert other.read_text() == "saved by its page"
    work.undo(turn, force=True)
    assert other.read_text() == "saved before"
    work.undo()
    assert other.read_text() == "saved by its page"


def test_what_another_turn_tells_is_not_claimed_by_one_that_looks(work):
    one, other = work.recorder("one"), work.recorder("other")
    one.look()
    path = work.folder / "sub" / "told"
    other.before([str(path)])
    path.parent.mkdir()
    path.write_text("told")
    other.after([str(path)])
    (work.folder / "found").write_text("found")
    other.end()
    one.end()
    first, second = work.store.turns()
    assert work.changed(first) == {"found"}
    assert work.changed(second) == {"sub", "sub/told"}


def test_a_tool_after_a_command_of_its_turn_goes_back_to_before_the_command(work):
    path = work.folder / "a"
    path.write_text("first")
    with work.turn() as recorder:
        path.write_text("by the command")
        recorder.before([str(path)])
        path.write_text("by the tool")
        recorder.after([str(path)])
    work.undo()
    assert path.read_text() == "first"


def test_files_outside_of_the_workspace_are_covered_if_a_tool_tells(work, tmp_path):
    path = tmp_path / "outside"
    path.write_text("before")
    with work.turn() as recorder:
        recorder.before([str(path)])
        path.write_text("after")
        recorder.after([str(path)])
    work.undo()
    assert path.read_text() == "before"


def test_what_was_changed_since_is_kept_before_force_takes_it(work):
    path = work.folder / "a"
    path.write_text("first")
    with work.turn():
        path.write_text("second")
    path.write_text("mine")
    turn = work.last
    assert names(work.undo(turn), "conflict") == ["a"]
    assert path.read_text() == "mine"
    work.undo(turn, force=True)
    assert path.read_text() == "first"
    work.undo()
    assert path.read_text() == "mine"


def test_nothing_is_written_through_a_folder_that_became_a_link(work, tmp_path):
    folder, elsewhere = work.folder / "d", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "a").write_text("first")
    with work.turn():
        (folder / "a").write_text("second")
    (folder / "a").unlink()
    folder.rmdir()
    folder.symlink_to(elsewhere)
    planned = work.undo(force=True)
    assert names(planned, "lost") == ["a"]
    assert not list(elsewhere.iterdir())


def test_a_new_folder_stays_if_somebody_put_a_file_into_it(work):
    with work.turn():
        (work.folder / "d").mkdir()
        (work.folder / "d" / "a").write_text("a")
    (work.folder / "d" / "mine").write_text("mine")
    done = carry_out(work.store, undo(work.store, work.last, force=False), session="s")
    assert list(done.problems.values()) == ["it holds other files by now"]
    assert [path.name for path in (work.folder / "d").iterdir()] == ["mine"]
    assert work.store.turns()[0].undone == work.last.number


def test_a_file_that_appeared_a_moment_ago_is_not_replaced(work):
    path = work.folder / "a"
    path.write_text("first")
    with work.turn():
        path.unlink()
    planned = undo(work.store, work.last, force=False)
    path.write_text("mine")
    done = carry_out(work.store, planned, session="s")
    assert list(done.problems.values()) == ["it was changed a moment ago"]
    assert path.read_text() == "mine"


def test_modes_of_folders_are_put_back_also_if_nobody_may_write_there(work):
    folder = work.folder / "d"
    folder.mkdir(0o755)
    (folder / "a").write_text("a")
    before = work.tree()
    with work.turn():
        (folder / "a").unlink()
        (folder / "b").write_text("b")
        folder.chmod(0o555)
    after = work.tree()
    work.undo()
    assert work.tree() == before
    work.undo()
    assert work.tree() == after


def test_files_are_restored_as_before_several_turns(work):
    for word in ("one", "two", "three"):
        with work.turn():
            (work.folder / "a").write_text(word)
            (work.folder / word).touch()
    second = work.store.turns()[1]
    chosen = restore(work.store, second, [os.fsencode(work.folder / "a")], force=False)
    carry_out(work.store, chosen, session="s")
    assert (work.folder / "a").read_text() == "one"
    assert (work.folder / "three").exists()
    carry_out(work.store, restore(work.store, second, [], force=False), session="s")
    assert sorted(path.name for path in work.folder.iterdir()) == ["a", "one"]


def test_damaged_contents_are_not_put_back(work):
    path = work.folder / "a"
    path.write_text("first")
    with work.turn():
        path.write_text("second")
    with work.store.database.write() as connection:
        connection.execute("UPDATE piece SET content = x'00'")
    done = carry_out(work.store, undo(work.store, work.last, force=False), session="s")
    assert list(done.problems.values()) == ["what was kept of it is damaged"]
    assert path.read_text() == "second"


def test_the_oldest_turns_make_room_but_never_the_last_of_a_conversation(make_work):
    work = make_work(most_bytes=3_000_000)
    sessions = ["early", *["long"] * 12]
    for number, session in enumerate(sessions):
        with work.turn(session=session):
            (work.folder / "a").write_bytes(os.urandom(500_000))
            (work.folder / "n").write_text(str(number))
    with work.store.database.read() as connection:
        assert used_bytes(connection) <= 3_000_000
    kept = [turn.session for turn in work.store.turns()]
    assert kept[0] == "early"
    assert 1 < kept.count("long") < 12
    before = work.tree()
    work.undo()
    work.undo()
    assert work.tree() == before


def test_a_full_disk_leaves_the_turn_alone_and_no_half_entry(work):
    small, large = work.folder / "small", work.folder / "large"
    small.write_text("a")
    recorder = work.recorder()
    recorder.before([str(small)])
    large.write_bytes(os.urandom(1_000_000))
    with work.store.database.write() as connection:
        connection.execute("PRAGMA max_page_count = 1")  # as it is: SQLite shrinks nothing
    for _ in range(2):
        recorder.before([str(large)])
    large.unlink()
    small.write_text("b")
    recorder.after([str(small), str(large)])
    recorder.end()
    assert len(work.warnings) == 1
    assert "disk is full" in work.warnings[0]
    assert work.changed() == {"small"}
    assert work.last.notes == ("not all that it changed is known",)
    work.undo()
    assert small.read_text() == "a"


def test_a_bug_of_the_recorder_keeps_no_tool_from_its_work(work, monkeypatch):
    recorder = work.recorder()
    with monkeypatch.context() as patched:
        patched.setattr(rows, "has", lambda *_: 1 / 0)
        recorder.before([str(work.folder / "a")])
    recorder.end()
    assert "cannot be undone completely" in work.warnings[0]


def test_an_undo_that_cannot_keep_what_is_there_changes_nothing(work, monkeypatch):
    path = work.folder / "a"
    path.write_text("first")
    with work.turn():
        path.write_text("second")
    planned = undo(work.store, work.last, force=False)
    monkeypatch.setattr(rows, "claim", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(StoreError):
        carry_out(work.store, planned, session="s")
    assert path.read_text() == "second"


def test_two_kernels_may_work_in_one_folder(work):
    script = (
        "import sys, os\n"
        "from pathlib import Path\n"
        "from hermes_jupyter.store.checkpoints.recorder import About, FileRecorder\n"
        "from hermes_jupyter.store.checkpoints.store import Checkpoints\n"
        "store = Checkpoints(Path(sys.argv[2])).of(sys.argv[1], most_bytes=1 << 30)\n"
        "for number in range(15):\n"
        "    about = About(turn=os.urandom(6).hex(), session=sys.argv[3], title='')\n"
        "    recorder = FileRecorder(store, about, sys.exit)\n"
        "    path = Path(sys.argv[1], f'{sys.argv[3]}-{number}')\n"
        "    recorder.before([str(path)])\n"
        "    path.write_text(str(number))\n"
        "    recorder.after([str(path)])\n"
        "    recorder.end()\n"
    )
    kernels = [
        subprocess.Popen([sys.executable, "-c", script, str(work.folder), str(work.home), name])
        for name in ("a", "b", "c")
    ]
    assert [kernel.wait(60) for kernel in kernels] == [0, 0, 0]
    turns = work.store.turns()
    assert len(turns) == 45
    assert all(len(work.changed(turn)) == 1 for turn in turns)


def test_a_turn_of_another_kernel_is_known_to_run(work):
    recorder = work.recorder("one")
    recorder.look()
    assert [turn.id for turn in work.store.running()] == ["one"]
    recorder.end()
    assert work.store.running() == []


def test_what_could_not_be_kept_at_once_is_kept_while_the_command_runs(work, monkeypatch):
    look = work.store.look
    monkeypatch.setattr(work.store, "look", lambda seconds=1: look(seconds=-1))
    (work.folder / "a").write_text("first")
    recorder = work.recorder()
    recorder.look()
    assert work.store._copier is not None
    work.store._copier.join(10)
    (work.folder / "a").write_text("second")
    recorder.end()
    work.undo()
    assert (work.folder / "a").read_text() == "first"


def test_what_a_command_was_too_quick_for_is_not_taken_for_what_was_before(work, monkeypatch):
    monkeypatch.setattr(looking, "copy", lambda *_: True)
    path = work.folder / "a"
    path.write_text("first")
    with work.turn() as recorder:
        path.write_text("by the command")
        recorder.before([str(path)])
        path.write_text("by the tool")
        recorder.after([str(path)])
    assert names(undo(work.store, work.last, force=True), "lost") == ["a"]


def test_a_damaged_store_is_set_aside_and_a_new_one_begun(work):
    with work.turn():
        (work.folder / "a").write_text("a")
    work.checkpoints.close()
    work.store.database.path.write_bytes(b"no database at all" * 100)
    work.restart()
    with work.turn():
        (work.folder / "b").write_text("b")
    assert "damaged" in work.warnings[0]
    assert work.changed() == {"b"}


def test_the_calls_of_one_batch_may_tell_at_once(work):
    with work.turn() as recorder:

        def tell(number):
            path = work.folder / str(number)
            recorder.before([str(path)])
            path.write_text(str(number))
            recorder.after([str(path)])

        threads = [threading.Thread(target=tell, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert work.changed() == {str(number) for number in range(8)}


def test_a_look_before_the_turn_leaves_no_turn(work):
    (work.folder / "a").write_text("a")
    recorder = work.recorder()
    recorder.prepare()
    assert recorder.end() is None
    assert work.store.turns() == []


def test_what_a_person_changes_while_it_is_asked_is_not_of_the_turn(work):
    for each in ("mine", "both", "its"):
        (work.folder / each).write_text("before")
    recorder = work.recorder()
    recorder.prepare()
    for each in ("mine", "both"):
        (work.folder / each).write_text("a person's")
    recorder.look()
    for each in ("both", "its"):
        (work.folder / each).write_text("the command's")
    recorder.end()
    assert work.changed() == {"both", "its"}
    work.undo()
    assert {each.name: each.read_text() for each in work.folder.iterdir()} == {
        "mine": "a person's", "both": "a person's", "its": "before",
    }  # fmt: skip


def test_contents_are_kept_before_the_turn_if_there_is_time(work):
    (work.folder / "a").write_text("content")
    work.recorder().prepare()
    with work.store.database.read() as connection:
        assert rows.known_at(connection, os.fsencode(work.folder / "a")).state.is_kept
