"""Tables and arrays of the libraries that people use."""

from __future__ import annotations

import pytest

from tools.values.describe import details_of
from tools.values.frames import PIECE_ROWS
from tools.values.marks import mark_of
from tools.values.plain import told

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")


class Secret:
    def __repr__(self):
        raise AssertionError("repr")


@pytest.fixture
def frame():
    return pandas.DataFrame({"n": [1, 2, None], "word": ["a", None, "c"], 3: [True, False, True]})


def test_a_frame_is_told_by_columns_types_missing_values_and_rows(frame):
    details = details_of(frame)
    assert details["shape"] == [3, 3]
    assert details["columns"]["n"] == "float64"
    assert details["missing"] == {"n": 1, "word": 1}
    assert details["head"][:2] == ["n | word | 3", "1.0 | a | True"]
    assert told(frame) == "DataFrame 3 × 3"


def test_objects_in_cells_are_not_asked_for_their_words():
    details = details_of(pandas.DataFrame({"x": pandas.Series([Secret()], dtype=object)}))
    assert "Secret>" in details["head"][1]


def test_secrets_in_columns_are_hidden():
    details = details_of(pandas.DataFrame({"api_key": ["k3y-4bcd-9876-zyxw"], "id": [1]}))
    assert "4bcd" not in str(details)


def test_a_wide_frame_is_cut():
    details = details_of(pandas.DataFrame(numpy.zeros((2, 500))))
    assert details["more_columns"] == 440


def test_counting_ends_in_time_and_says_how_far_it_came(monkeypatch):
    monkeypatch.setattr("tools.values.frames.SECONDS_TO_COUNT", -1.0)
    details = details_of(pandas.DataFrame({"x": numpy.zeros(3 * PIECE_ROWS)}))
    assert details["missing_counted_in"] == f"the first {PIECE_ROWS:,} rows"


def test_series_and_index(frame):
    series = details_of(frame["word"])
    assert (series["name"], series["length"], series["missing"]) == ("'word'", 3, {"values": 1})
    assert details_of(frame.index)["length"] == 3
    assert details_of(pandas.Series(["a", "b"], dtype="category"))["categories"] == ["'a'", "'b'"]


def test_a_frame_of_the_users_own_class_is_read_by_pandas_alone():
    class Mine(pandas.DataFrame):
        @property
        def _constructor(self):
            raise AssertionError("made another")

        def head(self, n=5):
            raise AssertionError("head")

        def __repr__(self):
            raise AssertionError("repr")

    details = details_of(Mine({"a": [1, 2]}))
    assert details["head"] == ["a", "1", "2"]


def test_arrays():
    details = details_of(numpy.array([[1.0, numpy.nan], [3.0, 5.0]]))
    assert (details["shape"], details["dtype"]) == ([2, 2], "float64")
    assert (details["min"], details["max"], details["mean"], details["missing"]) == (
        "1.0",
        "5.0",
        "3.0",
        1,
    )
    assert details_of(numpy.array([], dtype="i4"))["first"] == []
    assert told(numpy.float32(1.5)) == "1.5"
    assert details_of(numpy.array([Secret()]))["first"][0].endswith("Secret>")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries(library):
    module = pytest.importorskip(library)
    columns = {"a": [1, None, 3], "b": ["x", "y", None]}
    table = module.DataFrame(columns) if library == "polars" else module.table(columns)
    details = details_of(table)
    assert (details["shape"], details["missing"]) == ([3, 2], {"a": 1, "b": 1})
    assert details["head"][1] == "1 | x"
    column = table["a"]
    assert (details_of(column)["length"], details_of(column)["missing"]) == (3, {"values": 1})


def test_what_is_lazy_is_not_computed():
    polars = pytest.importorskip("polars")

    def compute(frame):
        raise AssertionError("computed")

    lazy = polars.LazyFrame({"a": [1]}).map_batches(compute)
    assert "lazy" in details_of(lazy)["note"]


def test_changes_in_place_are_seen(frame):
    array, before = numpy.zeros(1000), mark_of(frame)
    marks = [mark_of(array)]
    array[0] = 5
    assert mark_of(array) != marks[0]
    frame["new"] = 1
    assert mark_of(frame) != before
    before = mark_of(frame)
    frame.loc[0, "n"] = 9
    assert mark_of(frame) != before
    assert mark_of(frame) == mark_of(frame)
