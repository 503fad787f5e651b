"""What a V4A patch does, worked out on a draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.files.drafting import draft_patch
from tools.files.problems import Problem
from tools.files.workspace import Workspace

TEXT = "import os\n\ndef f():\n    return 1\n\ndef g():\n    return 1\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "a.py").write_text(TEXT)
    return Workspace(str(tmp_path))


def patched(workspace: Workspace, lines: str, path: str = "a.py") -> str:
    (change,) = draft_patch(f"*** Update File: {path}\n{lines}", workspace).changes()
    return (change.after or b"").decode()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("@@ def g():\n-    return 1\n+    return 2", TEXT[:-2] + "2\n"),
        ("@@\n def g():\n-    return 1\n+    return 2", TEXT[:-2] + "2\n"),
        ("@@ def g():\n def g():\n-    return 1\n+    return 2\n", TEXT[:-2] + "2\n"),
        ("@@ -6,2 +6,2 @@ ignored\n def g():\n-    return 1\n+    return 2", TEXT[:-2] + "2\n"),
        (" def f():\n-    return 1\n+    return 2\n@@\n-    return 1\n+    return 3",
         TEXT.replace("return 1", "return 2", 1)[:-2] + "3\n"),
        ("@@ import os\n+import sys", TEXT.replace("import os\n", "import os\nimport sys\n")),
        ("+# the end", TEXT + "# the end\n"),
        ("-    return 1\n+    return 9\n*** End of File", TEXT[:-2] + "9\n"),
        ("def g():\n-    return 1\n+    return 2", TEXT[:-2] + "2\n"),
        (" def g():\n-  return 1\n+  return 2\n+  # two", TEXT[:-2] + "2\n    # two\n"),
    ],
)  # fmt: skip
def test_a_hunk_goes_where_its_lines_are(workspace, lines, expected):
    assert patched(workspace, lines) == expected


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("-    return 1\n+    return 2", "hunk 1: its lines fit 2 places \\(lines 4, 7\\)"),
        ("-    return 5\n+    return 2", "hunk 1: its lines are not in the file"),
        ("@@ def h():\n-    return 1\n+    return 2", "no line below .* is 'def h\\(\\):'"),
        ("@@ return 1\n+    # remark", "several lines are 'return 1'"),
        ("@@ def g():\n-    return 1\n+    return 2\n@@\n-import os\n+import sys", "hunk 2"),
        ("", "changes nothing"),
    ],
)
def test_a_hunk_that_is_not_clear_is_refused(workspace, lines, said):
    with pytest.raises(Problem, match=said):
        patched(workspace, lines)


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_end_of_the_file_stays_as_it_is(workspace, tmp_path, end):
    (tmp_path / "b.txt").write_bytes(b"one\r\ntwo" + end.encode())
    assert patched(workspace, "-two\n+2", "b.txt") == "one\r\n2" + end


def test_later_operations_see_what_earlier_ones_did(workspace, tmp_path):
    text = (
        "*** Update File: a.py\n-import os\n+import sys\n"
        "*** Move File: a.py -> b.py\n"
        "*** Update File: b.py\n-import sys\n+import re\n"
    )
    created, deleted = draft_patch(text, workspace).changes()
    assert created.path == str(tmp_path / "b.py")
    assert created.after == TEXT.replace("import os", "import re").encode()
    assert (deleted.path, deleted.after) == (str(tmp_path / "a.py"), None)


def test_update_and_move_go_together(workspace):
    text = "*** Update File: a.py\n*** Move to: b.py\n@@\n-import os\n+import sys"
    assert [change.after is None for change in draft_patch(text, workspace).changes()] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("*** Add File: a.py\n+x", "exists already"),
        ("*** Move File: a.py -> a.py", "exists already"),
        ("*** Move File: a.py", "needs a target"),
        ("*** Delete File: none.py", "No such file"),
        ("*** Delete File: a.py\n-x", "follows a Delete"),
        ("*** Update File: .\n+x", "is a folder"),
        ("*** Add File: b.py\n+x\ny", "must begin with"),
        ("*** Replace File: b.py\n+x", "comes before any file header"),
        ("*** Update File: a.py\n*** Oops", "no known header"),
        ("--- a/a.py\n+++ b/a.py\n", "looks like this"),
    ],
)
def test_what_cannot_be_done_is_explained(workspace, text, said):
    with pytest.raises(Problem, match=said):
        draft_patch(text, workspace)


def test_fences_and_prose_around_a_patch_are_left(workspace):
    text = "Here it is:\n```\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n```\nDone."
    assert [change.after for change in draft_patch(text, workspace).changes()] == [None]
