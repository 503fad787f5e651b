"""Shell patterns for paths."""

from __future__ import annotations

import pytest

from tools.files.globs import matches


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/deep/er/a.py", True),
        ("./a.py", "a.py", True),
        ("*.{py,md}", "a.md", True),
        ("{a,b}{1,2}.txt", "b2.txt", True),
        ("*.py, *.md", "a.md", True),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("[.txt", "[.txt", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[z-a]", "[z-a]", True),
        ("a{b", "a{b", True),
    ],
)
def test_a_pattern_fits_as_in_a_shell(patterns, path, expected):
    assert matches(patterns, path) is expected
