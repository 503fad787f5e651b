"""Files that go come back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tools.files.changes import Change, commit
from tools.files.local_place import LOCAL, LocalPlace
from tools.files.problems import Problem
from tools.files.trash import Trash
from tools.patch_tool import patch
from tools.write_file_tool import write_file


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    return Trash(tmp_path / "home" / "trash", "main")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def made(path: Path, text: str = "text", mode: int = 0o640) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def test_a_file_comes_back_as_it_was(trash, work):
    file = made(work / "a.sh", mode=0o755)
    entry = trash.keep(str(file))
    file.unlink()
    assert trash.entries() == [entry]
    assert trash.restore(entry) == str(file)
    status = file.stat()
    assert (file.read_text(encoding="utf-8"), status.st_mode & 0o777) == ("text", 0o755)
    assert (status.st_mtime, status.st_nlink) == (1_000_000_000, 1)
    assert trash.entries() == []


def test_the_manifest_says_what_was_where(trash, work):
    entry = trash.keep(str(made(work / "a")))
    told = json.loads(Path(entry.place, "manifest.json").read_text(encoding="utf-8"))
    assert told["path"] == str(work / "a")
    assert (told["mode"], told["size"], told["session"]) == (0o640, 4, "main")
    assert told["sha256"].startswith("982d9e3eb996f559")
    assert Path(entry.place).parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_went_too_is_made_again(trash, work):
    (work / "deep").mkdir()
    file = made(work / "deep" / "a")
    entry = trash.keep(str(file))
    file.unlink()
    file.parent.rmdir()
    trash.restore(entry)
    assert file.exists()


def test_what_is_there_again_is_not_touched(trash, work):
    file = made(work / "a")
    entry = trash.keep(str(file))
    file.unlink()
    made(file, "newer")
    with pytest.raises(Problem, match="is there again"):
        trash.restore(entry)
    assert file.read_text(encoding="utf-8") == "newer"
    assert trash.restore(entry, str(work / "b")) == str(work / "b")


def test_a_link_is_kept_itself_and_not_what_it_names(trash, work):
    target = made(work / "target")
    link = work / "link"
    link.symlink_to("target")
    entry = trash.keep(str(link))
    link.unlink()
    trash.restore(entry)
    assert os.readlink(link) == "target"  # noqa: PTH115
    assert target.stat().st_nlink == 1


def test_a_link_that_leads_nowhere_is_kept(trash, work):
    (work / "link").symlink_to("/no/such/place")
    entry = trash.keep(str(work / "link"))
    (work / "link").unlink()
    trash.restore(entry)
    assert (work / "link").is_symlink()


@pytest.mark.parametrize("there_and_back", [False, True])
def test_another_disk_takes_a_copy(trash, work, monkeypatch, there_and_back):
    file = made(work / "a")
    with monkeypatch.context() as patched:
        patched.setattr(os, "link", _refuse)
        entry = trash.keep(str(file))
        file.unlink()
        if there_and_back:
            trash.restore(entry)
    if not there_and_back:
        trash.restore(entry)
    assert file.read_text(encoding="utf-8") == "text"
    assert [path.name for path in work.iterdir()] == ["a"]


def _refuse(*_: object, **__: object) -> None:
    raise OSError(18, "Invalid cross-device link")


def test_a_file_with_another_name_is_copied_for_somebody_may_write_to_it(trash, work):
    file = made(work / "a")
    os.link(file, work / "b")
    entry = trash.keep(str(file))
    file.unlink()
    (work / "b").write_text("changed", encoding="utf-8")
    trash.restore(entry)
    assert file.read_text(encoding="utf-8") == "text"


def test_what_was_changed_in_the_trash_is_not_passed_off_as_the_old_file(trash, work):
    file = made(work / "a")
    with file.open("a", encoding="utf-8") as still_open:
        entry = trash.keep(str(file))
        file.unlink()
        still_open.write("more")
    with pytest.raises(Problem, match="was changed in the trash"):
        trash.restore(entry)


def test_the_oldest_makes_room(tmp_path, work):
    trash = Trash(tmp_path / "trash", "main", most_bytes=250)
    for name in "abc":
        trash.keep(str(made(work / name, name * 100)))
    assert [Path(entry.path).name for entry in trash.entries()] == ["b", "c"]
    trash.keep(str(made(work / "large", "x" * 1_000)))
    assert [Path(entry.path).name for entry in trash.entries()] == ["large"]


def test_sessions_share_the_room_and_not_the_list(tmp_path, work):
    one, two = (Trash(tmp_path / "trash", name) for name in ("one", "../two"))
    one.keep(str(made(work / "a")))
    two.keep(str(made(work / "b")))
    assert len(one.entries()) == 1
    assert [entry.session for entry in one.entries(everywhere=True)] == ["one", "../two"]
    assert two.find(str(work / "a")).session == "one"
    assert {path.name for path in tmp_path.iterdir()} == {"trash", "work"}


def test_an_entry_is_found_by_id_or_path(trash, work):
    first = trash.keep(str(made(work / "a", "1")))
    second = trash.keep(str(made(work / "a", "2")))
    assert trash.find(first.id) == first
    assert trash.find(str(work / "a")) == second
    with pytest.raises(Problem, match="Nothing in the trash"):
        trash.find("other")


def test_folders_and_pipes_are_refused(trash, work):
    os.mkfifo(work / "pipe")
    for path in (work, work / "pipe", work / "none"):
        with pytest.raises(Problem):
            trash.keep(str(path))
    assert trash.entries() == []


def test_odd_folders_in_the_trash_are_left_alone(trash, work):
    entry = trash.keep(str(made(work / "a")))
    (Path(entry.place).parent / "odd").mkdir()
    (Path(entry.place).parent / "odd" / "manifest.json").write_text("{", encoding="utf-8")
    assert trash.entries() == [entry]


def test_a_deletion_by_patch_is_kept(trash, work):
    made(work / "a", "one\n")
    text = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
    answer = json.loads(patch({"mode": "patch", "patch": text}, cwd=str(work), trash=trash))
    assert answer["success"]
    assert not (work / "a").exists()
    trash.restore(trash.find(str(work / "a")))
    assert (work / "a").read_text(encoding="utf-8") == "one\n"


def test_a_patch_that_deletes_a_link_keeps_the_link(trash, work):
    made(work / "target", "one\n")
    (work / "link").symlink_to("target")
    text = "*** Begin Patch\n*** Delete File: link\n*** End Patch"
    patch({"mode": "patch", "patch": text}, cwd=str(work), trash=trash)
    (entry,) = trash.entries()
    assert entry.is_link
    assert (work / "target").exists()


def test_a_moved_or_edited_file_needs_no_trash(trash, work):
    made(work / "a", "one\n")
    text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-one\n+two\n*** End Patch"
    patch({"mode": "patch", "patch": text}, cwd=str(work), trash=trash)
    assert (work / "b").exists()
    assert trash.entries() == []


def test_a_replaced_file_changes_places_with_the_new_one(trash, work):
    made(work / "a", "old")
    write_file({"path": "a", "content": "new"}, cwd=str(work), trash=trash)
    (entry,) = trash.entries()
    assert (entry.why, (work / "a").read_text(encoding="utf-8")) == ("replaced", "new")
    trash.restore(entry)
    assert (work / "a").read_text(encoding="utf-8") == "old"
    trash.restore(trash.find(str(work / "a")))
    assert (work / "a").read_text(encoding="utf-8") == "new"


def test_what_cannot_be_kept_is_not_deleted(work, tmp_path):
    made(tmp_path / "file")
    trash = Trash(tmp_path / "file" / "trash", "main")
    made(work / "a", "one\n")
    text = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
    answer = json.loads(patch({"mode": "patch", "patch": text}, cwd=str(work), trash=trash))
    assert "cannot be kept in the trash" in answer["error"]
    assert (work / "a").exists()


def test_a_change_that_fails_leaves_nothing_in_the_trash(trash, work):
    first, second = made(work / "a"), work / "missing" / "b"
    changes = [
        Change(path=str(first), before=b"text", after=None),
        Change(path=str(second), before=None, after=b"", mode=0o600),
        Change(path=str(work / "missing"), before=None, after=b"x"),
    ]
    with pytest.raises((OSError, Problem)):
        commit(changes, LOCAL, trash)
    assert first.exists()
    assert trash.entries() == []


class Elsewhere(LocalPlace):
    """Another machine, as far as names go."""

    name = "ssh:me@there"


def test_what_was_on_another_machine_is_kept_here_and_goes_back_there(trash, work):
    there = Elsewhere()
    path = made(work / "a", "precious")
    path.chmod(0o640)
    commit([Change(path=str(path), before=b"precious", after=None, mode=0o640)], there, trash)
    (entry,) = trash.entries()
    assert (entry.where, path.exists()) == ("ssh:me@there", False)
    with pytest.raises(Problem, match="was on ssh:me@there; choose that terminal first"):
        trash.restore(entry, files=LOCAL)
    assert trash.restore(trash.find(str(path)), files=there) == str(path)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("precious", 0o640)
    assert trash.entries() == []


def test_nothing_there_is_lost_when_a_file_comes_back(trash, work):
    there = Elsewhere()
    path = made(work / "a", "one")
    change = Change(path=str(path), before=b"one", after=b"two", whole=True)
    commit([change], there, trash)
    (entry,) = trash.entries()
    trash.restore(entry, files=there)
    assert path.read_text() == "one"
    (kept,) = trash.entries()
    assert (kept.why, kept.size) == ("replaced", 3)
    trash.restore(kept, files=there)
    assert path.read_text() == "two"


def test_a_name_that_is_no_unicode_can_be_kept(trash, work):
    path = made(work / os.fsdecode(b"\xff\xfe"), "text")
    (entry,) = [trash.keep(str(path))]
    path.unlink()
    trash.restore(trash.find(entry.id))
    assert path.read_text() == "text"
