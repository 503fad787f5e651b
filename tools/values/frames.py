"""Tables of pandas, polars and Arrow: their columns, what is missing in them, and their first rows.

Nothing is copied or converted as a whole. What is missing is counted in pieces until the time for
it is over; then it is said how many rows were looked at.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tools.values.plain import MOST_ITEMS, dictionary_manager, named, told
from tools.values.types import is_of, library

MOST_COLUMNS = 60
HEAD_ROWS, TAIL_ROWS = 5, 2
CELL_CHARS = 60
SECONDS_TO_COUNT = 0.02
PIECE_ROWS = 65_536

Details = dict[str, Any]
Count = Callable[[int, int], int]
"""How many values are missing from one row to another."""


def is_table(value: object) -> bool:
    return (
        is_of(value, "pandas", "DataFrame", "Series", "Index")
        or is_of(value, "polars", "DataFrame", "Series")
        or is_of(value, "pyarrow", "Table", "RecordBatch", "ChunkedArray", "Array")
    )


def is_lazy(value: object) -> bool:
    """Does it stand for data that is not there yet?"""
    return (
        is_of(value, "polars", "LazyFrame")
        or is_of(value, "dask.dataframe", "DataFrame", "Series")
        or is_of(value, "pyspark.sql", "DataFrame")
    )


def describe_lazy(value: Any) -> Details:
    return {"note": "lazy: its data is computed only when it is asked for; nothing was computed"}


def describe_table(value: Any) -> Details:
    if is_of(value, "pandas", "DataFrame"):
        return _pandas_frame(value)
    if is_of(value, "pandas", "Series", "Index"):
        return _pandas_series(value)
    if is_of(value, "polars", "DataFrame"):
        return _polars_frame(value)
    if is_of(value, "polars", "Series"):
        return _polars_series(value)
    if is_of(value, "pyarrow", "Table", "RecordBatch"):
        return _arrow_table(value)
    return _arrow_array(value)


def _pandas_frame(frame: Any) -> Details:
    pandas = library("pandas")
    names = pandas.Index.tolist(frame.columns[:MOST_COLUMNS])
    rows, width = pandas.DataFrame.shape.fget(frame)
    columns = [_series_at(frame, place) for place in range(len(names))]
    memory = int(pandas.DataFrame.memory_usage(frame, index=True, deep=False).sum())
    return {
        "shape": [rows, width],
        "memory": size_text(memory),
        "index": _index(frame.index),
        **_columns(
            [(name, str(column.dtype)) for name, column in zip(names, columns, strict=True)],
            width,
            rows,
            [_pandas_count(column) for column in columns],
        ),
        **_rows(names, [_pandas_cells(column) for column in columns], rows),
    }


def _series_at(frame: Any, place: int) -> Any:
    """A column as pandas keeps it: no copy, and no class of the user's is asked to make one."""
    return dictionary_manager(frame).iget(place).array if _is_subclass(frame) else frame.iloc[
        :, place
    ].array  # fmt: skip


def _is_subclass(frame: Any) -> bool:
    return type(frame) is not library("pandas").DataFrame


def _pandas_series(series: Any) -> Details:
    pandas = library("pandas")
    array = series.array
    rows = len(array)
    name = series.name
    details: Details = {
        "length": rows,
        "dtype": str(array.dtype),
        "memory": size_text(int(array.nbytes)),
        **_missing([("values", _pandas_count(array))], rows),
    }
    if is_of(series, "pandas", "Series"):
        details["index"] = _index(series.index)
    if isinstance(array.dtype, pandas.CategoricalDtype):
        details["categories"] = [told(each, CELL_CHARS) for each in array.categories[:MOST_ITEMS]]
    return {"name": told(name, CELL_CHARS), **details, **_rows(
        ["value"], [_pandas_cells(array)], rows)}  # fmt: skip


def _index(index: Any) -> str:
    return f"{type(index).__name__}, {index.dtype}, {len(index):,} labels"


def _pandas_count(array: Any) -> Count:
    isna = library("pandas").isna
    return lambda start, end: int(isna(array[start:end]).sum())


def _pandas_cells(array: Any) -> Callable[[int], Any]:
    return lambda row: array[row]


def _polars_frame(frame: Any) -> Details:
    names = list(frame.columns[:MOST_COLUMNS])
    rows, width = frame.shape
    columns = [frame.get_column(name) for name in names]
    return {
        "shape": [rows, width],
        "memory": size_text(int(frame.estimated_size())),
        **_columns(
            [(name, str(column.dtype)) for name, column in zip(names, columns, strict=True)],
            width, rows, [_whole(column.null_count) for column in columns],
        ),
        **_rows(names, [column.__getitem__ for column in columns], rows),
    }  # fmt: skip


def _polars_series(series: Any) -> Details:
    rows = len(series)
    return {
        "name": told(series.name, CELL_CHARS),
        "length": rows,
        "dtype": str(series.dtype),
        "memory": size_text(int(series.estimated_size())),
        **_missing([("values", _whole(series.null_count))], rows),
        **_rows(["value"], [series.__getitem__], rows),
    }


def _arrow_table(table: Any) -> Details:
    names = list(table.schema.names[:MOST_COLUMNS])
    rows, width = table.num_rows, table.num_columns
    columns = [table.column(place) for place in range(len(names))]
    return {
        "shape": [rows, width],
        "memory": size_text(int(table.nbytes)),
        **_columns(
            [(name, str(column.type)) for name, column in zip(names, columns, strict=True)],
            width, rows, [_arrow_count(column) for column in columns],
        ),
        **_rows(names, [_arrow_cells(column) for column in columns], rows),
    }  # fmt: skip


def _arrow_array(array: Any) -> Details:
    rows = len(array)
    return {
        "length": rows,
        "dtype": str(array.type),
        "memory": size_text(int(array.nbytes)),
        **_missing([("values", _arrow_count(array))], rows),
        **_rows(["value"], [_arrow_cells(array)], rows),
    }


def _arrow_count(array: Any) -> Count:
    return _whole(lambda: int(array.null_count))


def _arrow_cells(array: Any) -> Callable[[int], Any]:
    return lambda row: array[row].as_py()


def _whole(count: Callable[[], int]) -> Count:
    """Of a library that has counted already: the first piece holds all."""
    return lambda start, _end: int(count()) if start == 0 else 0


def _columns(
    kinds: Sequence[tuple[Any, str]], width: int, rows: int, counts: Sequence[Count]
) -> Details:
    shown = {_label(name): kind for name, kind in kinds}
    more = width - len(kinds)
    note = {"more_columns": more} if more > 0 else {}
    names = [_label(name) for name, _ in kinds]
    return {"columns": shown, **note, **_missing(list(zip(names, counts, strict=True)), rows)}


def _label(name: Any) -> str:
    return name[:CELL_CHARS] if type(name) is str else told(name, CELL_CHARS)


def _missing(counts: Sequence[tuple[str, Count]], rows: int) -> Details:
    """Missing values by column, as far as the time allows."""
    found = dict.fromkeys((name for name, _ in counts), 0)
    deadline = time.monotonic() + SECONDS_TO_COUNT
    looked_at = 0
    for start in range(0, rows, PIECE_ROWS):
        if looked_at and time.monotonic() > deadline:
            break
        for name, count in counts:
            found[name] += count(start, min(start + PIECE_ROWS, rows))
        looked_at = min(start + PIECE_ROWS, rows)
    some = {name: number for name, number in found.items() if number}
    if looked_at < rows:
        return {"missing": some, "missing_counted_in": f"the first {looked_at:,} rows"}
    return {"missing": some}


def _rows(names: Sequence[Any], cells: Sequence[Callable[[int], Any]], rows: int) -> Details:
    """The first and the last rows, as lines."""
    first = range(min(HEAD_ROWS, rows))
    last = range(max(len(first), rows - TAIL_ROWS), rows)
    labels = [_label(name) for name in names]
    table = [labels, *_lines(labels, cells, itertools.chain(first, last))]
    details: Details = {"head": [" | ".join(line) for line in table[: 1 + len(first)]]}
    if last:
        details["tail"] = [" | ".join(line) for line in table[1 + len(first) :]]
    return details


def _lines(
    labels: Sequence[str], cells: Sequence[Callable[[int], Any]], rows: Iterator[int]
) -> Iterator[list[str]]:
    for row in rows:
        yield [_cell(label, cell(row)) for label, cell in zip(labels, cells, strict=True)]


def _cell(label: str, value: Any) -> str:
    if type(value) is str and len(value) <= CELL_CHARS:
        shown = named(label, value, CELL_CHARS)
        return value if shown == repr(value) else shown
    return named(label, value, CELL_CHARS, depth=1)


def size_text(number: int) -> str:
    """A number of bytes for reading: "1.2 MB"."""
    size = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
