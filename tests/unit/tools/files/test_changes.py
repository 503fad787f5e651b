"""Several changes are made all or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.files.changes import Change, commit
from tools.files.local_place import LocalPlace


class FailingFiles(LocalPlace):
    """A disk that is full when a file named ``full`` is written."""

    def write_bytes_atomic(self, path: str, content: bytes, mode: int | None = None) -> None:
        if path.endswith("full"):
            raise OSError(28, "No space left on device", path)
        super().write_bytes_atomic(path, content, mode)


def test_a_failure_takes_everything_back(tmp_path: Path):
    old, gone = tmp_path / "old", tmp_path / "gone"
    old.write_bytes(b"before")
    gone.write_bytes(b"still here")
    changes = [
        Change(path=str(old), before=b"before", after=b"after"),
        Change(path=str(gone), before=b"still here", after=None, mode=0o600),
        Change(path=str(tmp_path / "a" / "b" / "new"), before=None, after=b"new"),
        Change(path=str(tmp_path / "full"), before=None, after=b"x"),
    ]
    with pytest.raises(OSError, match="No space"):
        commit(changes, FailingFiles())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["gone", "old"]
    assert (old.read_bytes(), gone.read_bytes()) == (b"before", b"still here")
    assert gone.stat().st_mode & 0o777 == 0o600


def test_folders_that_were_made_are_told(tmp_path: Path):
    change = Change(path=str(tmp_path / "a" / "b" / "c"), before=None, after=b"")
    assert commit([change], LocalPlace()) == [str(tmp_path / "a"), str(tmp_path / "a" / "b")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, b"x\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"),
        (b"x\n", None, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
        (b"x", b"x\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"),
        (b"a\0", b"b", "Binary file f differs\n"),
        (b"x\r\n", b"x\n", ""),
    ],
)
def test_a_change_is_shown_as_a_difference(before, after, expected):
    assert Change(path="/f", before=before, after=after).diff("f") == expected
