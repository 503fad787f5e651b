import json
import os

import nbformat
import pytest

from hermes_jupyter.calls import Place
from hermes_jupyter.canonical import prompt_sha256
from hermes_jupyter.errors import RecordingError
from hermes_jupyter.events import TurnRecorded
from hermes_jupyter.recording.encoding import as_json
from hermes_jupyter.recording.finding import Finder, Wanted, Where, earlier_of
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.sidecars import Sidecars
from hermes_jupyter.store.sessions.masking import dumped
from hermes_jupyter.views.record import MIME, Record


def wanted(prompt, cell="", line="", *, attended=False):
    place = Place(cell=cell, number=3, attended=attended)
    return Wanted(prompt=prompt, prompt_sha256=prompt_sha256(prompt), line=line, place=place)


def bundle(recording, told=None):
    record = Record()
    started = recording.events[0]
    for event in (
        started,
        *recording.events[1:-1],
        *([told] if told else ()),
        recording.events[-1],
    ):
        record(event)
    made = record.bundle()
    made[MIME]["cell"] = recording.cell
    made[MIME]["line"] = recording.line
    return made


def inside(recording):
    content = as_json(recording)
    return bundle(recording, TurnRecorded(content=content, sha256=content["sha256"], size=1))


def save(path, *bundles):
    made = nbformat.v4.new_notebook()
    made.cells = [
        nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("display_data", data=each)])
        for each in bundles
    ]
    nbformat.write(made, path)
    return path


@pytest.fixture
def where(tmp_path):
    """Where recordings lie; a function, as each may differ."""

    def made(**more):
        about = {
            "chosen": "",
            "notebook": "",
            "folder": tmp_path,
            "shelf": Shelf(tmp_path / "home"),
        }
        return Where(**{**about, **more})

    return made


def test_the_same_prompt_is_found_in_the_order_of_the_notebook(tmp_path, where, make):
    save(tmp_path / "a.ipynb", *(inside(make("go on", turn=t, cell="")) for t in ("t1", "t2")))
    finder = Finder()
    assert [finder.find(wanted("go on"), where()).turn for _ in range(2)] == ["t1", "t2"]
    with pytest.raises(RecordingError, match=r"In \[3\] “go on” .* recorded 2 times"):
        finder.find(wanted("go on"), where())


def test_a_person_may_run_a_cell_once_more(tmp_path, where, make):
    save(tmp_path / "a.ipynb", inside(make("go on", cell="")))
    finder = Finder()
    for _ in range(3):
        assert finder.find(wanted("go on", attended=True), where())


def test_the_id_of_the_cell_goes_before_the_order(tmp_path, where, make):
    turns = (make("go on", turn=turn, cell=f"cell-{turn}") for turn in ("t1", "t2"))
    save(tmp_path / "a.ipynb", *map(inside, turns))
    finder = Finder()
    for cell in ("t2", "t1", "t2", "t2"):
        assert finder.find(wanted("go on", cell=f"cell-{cell}"), where()).turn == cell


def test_of_several_notebooks_the_newest_that_has_it_is_taken(tmp_path, where, make):
    old = save(tmp_path / "old.ipynb", inside(make("go on", turn="old")))
    save(tmp_path / "new.ipynb", inside(make("go on", turn="new")))
    save(tmp_path / "running.ipynb", inside(make("something else")))
    os.utime(old, (1, 1))
    assert Finder().find(wanted("go on"), where()).turn == "new"


def test_a_known_notebook_goes_before_all_others(tmp_path, where, make):
    mine = save(tmp_path / "mine.ipynb", inside(make("go on", turn="mine")))
    os.utime(mine, (1, 1))
    save(tmp_path / "other.ipynb", inside(make("go on", turn="other")))
    assert Finder().find(wanted("go on"), where(notebook=str(mine))).turn == "mine"


def test_a_notebook_that_was_emptied_leaves_it_to_the_shelf(tmp_path, where, make):
    place = where()
    for turn in ("t1", "t2"):
        place.shelf.put(make("go on", turn=turn, cell="", at=f"2026-01-01T00:00:0{turn[1]}Z"))
    save(tmp_path / "a.ipynb")
    finder = Finder()
    assert [finder.find(wanted("go on"), place).turn for _ in range(2)] == ["t1", "t2"]


def test_a_folder_a_notebook_or_a_recording_can_be_named(tmp_path, where, make):
    recording = make("go on")
    folder = tmp_path / "kept"
    folder.mkdir()
    notebook = save(folder / "a.ipynb", inside(recording))
    alone = folder / "one.json"
    alone.write_text(dumped(as_json(recording)))
    for chosen in (folder, notebook, alone):
        found = Finder().find(wanted("go on"), where(chosen=str(chosen), folder=tmp_path / "none"))
        assert found.turn == recording.turn
    with pytest.raises(RecordingError, match="HERMES_RECORDINGS"):
        Finder().find(wanted("go on"), where(chosen=str(tmp_path / "nothing")))


def in_file(folder, recording):
    name = Sidecars(folder).write(recording.turn, dumped(as_json(recording)))
    sha = as_json(recording)["sha256"]
    return bundle(recording, TurnRecorded(file=name, sha256=sha, size=1))


def test_a_file_beside_the_notebook_is_found_by_its_name(tmp_path, where, make):
    save(tmp_path / "a.ipynb", in_file(tmp_path, make("go on")))
    assert Finder().find(wanted("go on"), where()).turn == make().turn


def test_a_file_that_is_another_one_is_refused(tmp_path, where, make):
    save(tmp_path / "a.ipynb", in_file(tmp_path, make("go on")))
    Sidecars(tmp_path).write(make().turn, dumped(as_json(make("go on", line="-m x"))))
    with pytest.raises(RecordingError, match=r"is not the recording that a.ipynb names"):
        Finder().find(wanted("go on"), where())


def test_a_file_that_is_missing_is_named(tmp_path, where, make):
    save(tmp_path / "a.ipynb", in_file(tmp_path, make("go on")))
    (tmp_path / "hermes-recordings" / f"{make().turn}.json").unlink()
    with pytest.raises(RecordingError, match="belongs beside its notebook"):
        Finder().find(wanted("go on"), where())


def test_a_record_that_names_a_file_elsewhere_is_refused(tmp_path, where, make):
    told = TurnRecorded(file="../../secret.json", sha256="0" * 64, size=1)
    save(tmp_path / "a.ipynb", bundle(make("go on"), told))
    with pytest.raises(RecordingError, match="no file of recordings"):
        Finder().find(wanted("go on"), where())


def test_an_edited_record_is_an_error_that_names_the_cell(tmp_path, where, make):
    made = inside(make("go on"))
    made[MIME]["recording"]["events"][3]["text"] = "forged"
    save(tmp_path / "a.ipynb", made)
    with pytest.raises(RecordingError, match=r"In \[3\] “go on” .* cut or changed"):
        Finder().find(wanted("go on"), where())


def test_a_recording_of_another_prompt_in_its_place_is_refused(tmp_path, where, make):
    made = bundle(make("go on"))
    made[MIME]["recording"] = as_json(make("rm -rf everything"))
    save(tmp_path / "a.ipynb", made)
    with pytest.raises(RecordingError, match="is of another prompt"):
        Finder().find(wanted("go on"), where())


def test_a_turn_that_was_not_recorded_says_how_to(tmp_path, where, make):
    save(tmp_path / "a.ipynb", bundle(make("go on")))
    with pytest.raises(RecordingError, match="was not recorded; run the cell once with --record"):
        Finder().find(wanted("go on"), where())


def test_a_moved_notebook_knows_its_turns_by_their_records(tmp_path, where, make):
    recording = make("go on", travels=False)
    Shelf(tmp_path / "home", "/old/place.ipynb").put(recording)
    here = str(save(tmp_path / "moved.ipynb", bundle(recording)))
    shelf = Shelf(tmp_path / "home", here)
    assert earlier_of(wanted("go on", "cell-1"), shelf, here).turn == recording.turn
    assert earlier_of(wanted("go on", "cell-2"), shelf, here) is None
    assert earlier_of(wanted("go back", "cell-1"), shelf, here) is None
    elsewhere = Shelf(tmp_path / "other home", here)
    assert earlier_of(wanted("go on", "cell-1"), elsewhere, here) is None
    save(tmp_path / "moved.ipynb", inside(recording))
    assert earlier_of(wanted("go on", "cell-1"), elsewhere, here).turn == recording.turn


def test_a_turn_that_left_only_a_record_does_not_count(tmp_path, where, make):
    failed, good = make("go on", turn="t1", cell=""), make("go on", turn="t2", cell="")
    save(tmp_path / "a.ipynb", bundle(failed), inside(good))
    assert Finder().find(wanted("go on"), where()).turn == "t2"


def test_a_changed_prompt_is_told_from_a_cell_without_a_recording(tmp_path, where, make):
    save(tmp_path / "a.ipynb", inside(make("go on", cell="c1")))
    with pytest.raises(RecordingError, match="the prompt of this cell has changed"):
        Finder().find(wanted("go back", cell="c1"), where())
    with pytest.raises(RecordingError, match=r"other prompts in a\.ipynb.*HERMES_RECORDINGS"):
        Finder().find(wanted("go back", cell="c2"), where())


def test_other_options_are_a_mismatch(tmp_path, where, make):
    save(tmp_path / "a.ipynb", inside(make("go on", line="-m big")))
    with pytest.raises(RecordingError, match=r"other options \(-m big\), and now has none"):
        Finder().find(wanted("go on"), where())


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"cells": 3}', '{"cells": [3, {"outputs": [3, {"data": 3}]}]}',
     "[" * 100_000, f'{{"cells": [{{"outputs": [{{"data": {{"{MIME}": {{"v": 99}}}}}}]}}]}}'],
)  # fmt: skip
def test_odd_notebooks_have_no_recordings(text, tmp_path, where, make):
    (tmp_path / "odd.ipynb").write_text(text)
    save(tmp_path / "a.ipynb", inside(make("go on")))
    os.utime(tmp_path / "a.ipynb", (1, 1))
    assert Finder().find(wanted("go on"), where()).turn == make().turn


def test_a_record_of_a_newer_program_is_left_alone(tmp_path, where, make):
    made = inside(make("go on"))
    made[MIME]["v"] = 3
    path = save(tmp_path / "a.ipynb", made)
    assert json.loads(path.read_text())["cells"]
    with pytest.raises(RecordingError, match="there is no recording of this prompt"):
        Finder().find(wanted("go on"), where())


def test_a_cell_that_went_to_another_folder_still_finds_them(tmp_path, where, make):
    recording = make(prompt="go on", prompt_sha256=prompt_sha256("go on"))
    save(tmp_path / "a.ipynb", inside(recording))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = Finder().find(wanted("go on"), where(folder=elsewhere, began=tmp_path))
    assert found.turn == recording.turn
