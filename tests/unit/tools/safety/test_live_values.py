"""The variables of a kernel help to judge its next cell."""

import functools
import linecache
import os
import shutil
from pathlib import Path

import pytest

from tools.safety.cells import judge_cell
from tools.safety.live_values import values_of


def verdict(text, **variables):
    return judge_cell(text, "/data/project", values_of(variables, text)).verdict


@pytest.fixture
def defined():
    """Run a cell of a notebook, as IPython does: its text can be found again."""

    def run(source, **variables):
        namespace = {"__name__": "__main__", **variables}
        linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
        exec(compile(source, "<cell>", "exec"), namespace)
        return namespace

    yield run
    linecache.cache.pop("<cell>", None)


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        ("o.remove('a')", {"o": os}, "ask"),
        ("erase('a')", {"erase": os.remove}, "ask"),
        ("erase('/')", {"erase": shutil.rmtree}, "block"),
        ("!rm -rf {folder}", {"folder": "/"}, "block"),
        ("!ls {folder}", {"folder": "data"}, "safe"),
        ("shutil.rmtree(p)", {"shutil": shutil, "p": Path("/usr")}, "block"),
        ("p.rename('b')", {"p": Path("a")}, "ask"),
        ("p.rename('b')", {"p": "text"}, "safe"),
        ("for f in files: os.remove(f)", {"files": ["a", "b"]}, "ask"),
        ("print('rm x')", {"print": os.system}, "ask"),
        ("f()", {"f": Path("a").unlink}, "ask"),
        ("f()", {"f": functools.partial(os.remove, "a")}, "ask"),
        ("rm - 1", {"rm": 3}, "safe"),
    ],
)
def test_what_a_name_stands_for_is_known(text, variables, expected):
    assert verdict(text, **variables) == expected


def test_a_function_of_an_earlier_cell_is_read_again(defined):
    kernel = defined("def wipe(path):\n    shutil.rmtree(path)\n", shutil=shutil)
    assert verdict("wipe('out')", **kernel) == "ask"
    assert verdict("wipe('/')", **kernel) == "block"


def test_a_harmless_function_stays_harmless(defined):
    kernel = defined("def clean(rows):\n    return [row.strip() for row in rows]\n")
    assert verdict("clean(['a'])", **kernel) == "safe"


def test_objects_of_other_classes_are_not_touched():
    class Trap:
        def __getattribute__(self, name):
            raise AssertionError(name)

    assert verdict("x.head()", x=Trap()) == "safe"
