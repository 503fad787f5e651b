import os
import stat

import pytest

from hermes_jupyter.errors import RecordingError, StoreError
from hermes_jupyter.recording.encoding import as_json, of_text
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.sidecars import FOLDER, Sidecars
from hermes_jupyter.store.sessions.masking import dumped


def files(home):
    return sorted(path for path in home.rglob("*") if path.is_file())


def test_the_last_turn_of_a_cell_is_kept(tmp_path, make):
    shelf = Shelf(tmp_path)
    shelf.put(make(turn="one"))
    shelf.put(make(turn="two"))
    assert shelf.of_cell("cell-1").turn == "two"
    assert shelf.of_cell("cell-2") is None


def test_cells_of_two_notebooks_may_have_one_id(tmp_path, make):
    Shelf(tmp_path, "/n/a.ipynb").put(make(turn="one"))
    assert Shelf(tmp_path, "/n/b.ipynb").of_cell("cell-1") is None
    assert Shelf(tmp_path, "/n/b.ipynb").of_turn("one").turn == "one"


def test_what_was_asked_for_is_found_by_prompt_and_by_turn(tmp_path, make):
    shelf = Shelf(tmp_path)
    shelf.put(make(turn="one"))
    shelf.put(make(turn="two", cell=""))
    shelf.put(make(turn="three", travels=False))
    sha = make().prompt_sha256
    assert [each.turn for each in shelf.of_prompt(sha)] == ["one", "two"]
    assert shelf.of_turn("two").turn == "two"
    assert shelf.of_turn("three").turn == "three"
    assert shelf.of_turn("four") is None
    assert shelf.of_turn("../../x") is None
    assert shelf.of_prompt("*") == []


def test_files_are_for_the_user_alone(tmp_path, recording):
    Shelf(tmp_path).put(recording)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)} == {0o600}


def test_a_cells_id_may_be_any_text(tmp_path, make):
    shelf = Shelf(tmp_path)
    for cell in ("../../../etc/passwd", "x" * 900, "\ud800", "a/b\0c"):
        shelf.put(make(cell=cell))
        assert shelf.of_cell(cell) is not None
    assert {path.parent.name for path in files(tmp_path)} <= {"cells", "turns"}


def test_the_oldest_make_room(tmp_path, make):
    size = len(dumped(as_json(make())).encode())
    shelf = Shelf(tmp_path, most_bytes=int(size * 2.5))
    for number, cell in enumerate("abc"):
        shelf.put(make(cell=cell, travels=False))
        for path in files(tmp_path):
            if shelf.of_cell(cell) and path.stat().st_mtime > 1_000:
                os.utime(path, (number, number))
    assert [shelf.of_cell(cell) is not None for cell in "abc"] == [False, True, True]


def test_what_is_larger_than_all_room_is_refused(tmp_path, recording):
    with pytest.raises(StoreError, match="too many to be kept"):
        Shelf(tmp_path, most_bytes=100).put(recording)


def test_a_conversation_that_is_deleted_is_forgotten(tmp_path, make):
    shelf = Shelf(tmp_path)
    shelf.put(make(turn="one", session_id="s1"))
    shelf.put(make(turn="two", session_id="s2", cell="cell-2"))
    assert shelf.forget("s1") == 2
    assert [path.name for path in files(tmp_path) if "one" in path.name] == []
    assert shelf.of_cell("cell-2").turn == "two"


def test_a_broken_file_is_as_none(tmp_path, recording):
    shelf = Shelf(tmp_path)
    shelf.put(recording)
    for path in files(tmp_path):
        path.write_text("{")
    assert shelf.of_cell("cell-1") is None
    assert shelf.of_prompt(recording.prompt_sha256) == []


def test_a_shelf_that_cannot_be_written_says_so(tmp_path, recording):
    (tmp_path / "jupyter").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be kept in"):
        Shelf(tmp_path).put(recording)


def test_a_sidecar_is_written_and_read_by_its_name(tmp_path, recording):
    sidecars = Sidecars(tmp_path)
    name = sidecars.write(recording.turn, dumped(as_json(recording)))
    assert name == f"{FOLDER}/{recording.turn}.json"
    assert of_text(sidecars.read(name)).turn == recording.turn


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../x.json",
        f"{FOLDER}/../x.json",
        f"{FOLDER}/a/b.json",
        f"{FOLDER}/x.txt",
        "",
    ],
)
def test_a_record_cannot_name_other_files(name, tmp_path):
    with pytest.raises(RecordingError, match="no file of recordings"):
        Sidecars(tmp_path).read(name)


def test_a_missing_sidecar_says_where_it_belongs(tmp_path):
    with pytest.raises(RecordingError, match="beside its notebook"):
        Sidecars(tmp_path).read(f"{FOLDER}/x.json")
