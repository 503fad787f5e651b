"""A notebook's file."""

import json

import pytest

from hermes_jupyter.notebook.saved import NOTHING, read_saved


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"cells": 3}', '{"cells": [3, null]}', "{" * 9, "\x00"]
)
def test_a_file_that_is_no_notebook_has_no_cells(tmp_path, content):
    path = tmp_path / "a.ipynb"
    path.write_text(content)
    assert list(read_saved(str(path)).cells) == []


def test_a_missing_file_is_nothing(tmp_path):
    assert read_saved(str(tmp_path / "none.ipynb")) is NOTHING
    assert read_saved("") is NOTHING
    assert read_saved(str(tmp_path)) is NOTHING


def test_cells_are_read_whatever_way_text_is_written(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [
        {"id": "a", "cell_type": "code", "source": ["x = 1\n", "y"], "outputs": [{"a": 1}, 3],
         "execution_count": 7},
        {"cell_type": "markdown", "source": "# T"},
    ]  # fmt: skip
    path.write_text(json.dumps({"cells": cells}))
    first, second = read_saved(str(path)).cells
    assert (first.id, first.kind, first.source, first.number) == ("a", "code", "x = 1\ny", 7)
    assert first.outputs == [{"a": 1}]
    assert (second.id, second.kind, second.source, second.number) == ("", "markdown", "# T", 0)
