"""Values as files."""

from __future__ import annotations

import io
import json
import pickle

import pytest

from tools.values.saving import NotSaved, encoded, format_for


@pytest.mark.parametrize(
    ("value", "form", "content"),
    [
        ([{"a": 1, "b": "x,y"}, {"b": 2}], "csv", b'a,b\n1,"x,y"\n,2\n'),
        ([[1, 2], [3, 4]], "tsv", b"1\t2\n3\t4\n"),
        ([1, 2], "csv", b"1\n2\n"),
        ({"a": [1]}, "json", b'{\n "a": [\n  1\n ]\n}\n'),
        ("héllo", "text", "héllo".encode()),
        (b"\0", "text", b"\0"),
    ],
)
def test_plain_values(value, form, content):
    assert encoded(value, form) == content


@pytest.mark.parametrize(
    ("value", "form", "said"),
    [
        (7, "csv", "a table"), (object(), "json", "pickle takes any"), ([1], "npy", "an array"),
        ([1], "parquet", "DataFrame"), (7, "text", "takes text"), ("x", "png", "a figure"),
        (lambda: 1, "pickle", "cannot be pickled"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(value, form, said):
    with pytest.raises(NotSaved, match=said):
        encoded(value, form)


def test_any_value_can_be_pickled():
    assert pickle.loads(encoded({"a": {1, 2}}, "pickle")) == {"a": {1, 2}}


@pytest.mark.parametrize(
    ("path", "wanted", "form"),
    [
        ("a.CSV", "", "csv"),
        ("a.pq", "", "parquet"),
        ("a.data", "json", "json"),
        ("a.md", "", "text"),
    ],
)
def test_the_ending_tells_the_format(path, wanted, form):
    assert format_for(path, wanted) == form


@pytest.mark.parametrize(("path", "wanted"), [("a", ""), ("a.xyz", ""), ("a.csv", "docx")])
def test_an_unknown_format_is_told(path, wanted):
    with pytest.raises(NotSaved):
        format_for(path, wanted)


def test_frames_and_arrays():
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})
    assert encoded(frame, "csv") == b"a,b\n1,x\n2,\n"
    assert json.loads(encoded(frame, "json"))[0] == {"a": 1, "b": "x"}
    assert pandas.read_csv(io.BytesIO(encoded(frame.set_index("b"), "csv"))).columns[0] == "b"
    assert (numpy.load(io.BytesIO(encoded(numpy.arange(3), "npy"))) == [0, 1, 2]).all()
    with pytest.raises(NotSaved, match="objects"):
        encoded(numpy.array([object()]), "npy")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_parquet_and_csv_of_every_table(library):
    module = pytest.importorskip(library)
    parquet = pytest.importorskip("pyarrow.parquet")
    make = module.table if library == "pyarrow" else module.DataFrame
    table = make({"a": [1, 2]})
    assert parquet.read_table(io.BytesIO(encoded(table, "parquet")))["a"].to_pylist() == [1, 2]
    assert encoded(table, "csv").replace(b'"', b"") == b"a\n1\n2\n"


def test_figures_become_pictures():
    figures = pytest.importorskip("matplotlib.figure")
    figure = figures.Figure()
    figure.subplots().plot([1, 2])
    assert encoded(figure, "png").startswith(b"\x89PNG")
    assert b"<svg" in encoded(figure, "svg")
