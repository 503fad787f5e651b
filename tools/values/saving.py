"""A value as the bytes of a file: which format, and how each kind of value gets there."""

from __future__ import annotations

import csv
import io
import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from tools.values.objects import is_figure
from tools.values.plain import told
from tools.values.types import full_name, is_instance, is_of, library

FORMATS: Mapping[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet", ".pq"),
    "json": (".json",),
    "npy": (".npy",),
    "pickle": (".pkl", ".pickle"),
    "png": (".png",),
    "svg": (".svg",),
    "text": (".txt", ".md", ".py", ".html", ".xml", ".yaml", ".yml", ".toml", ".sql", ".log"),
}
"""Each with the endings of names that mean it."""


class NotSaved(ValueError):
    """The value does not go into this format; the text says which would do."""


def format_for(path: str, wanted: str = "") -> str:
    """The format that is asked for, or that the ending of the name means.

    Raises
    ------
    NotSaved
    """
    if wanted:
        if wanted not in FORMATS:
            raise NotSaved(f"format is one of {', '.join(FORMATS)}, not {wanted!r:.40}")
        return wanted
    ending = PurePath(path).suffix.lower()
    for name, endings in FORMATS.items():
        if ending in endings:
            return name
    raise NotSaved(f"{path!r} has no ending that tells a format; pass one of {', '.join(FORMATS)}")


def encoded(value: Any, form: str) -> bytes:
    """The value in this format.

    Raises
    ------
    NotSaved
        If it does not go into it, or a library is missing.
    """
    writers: Mapping[str, Callable[[Any], bytes]] = {
        "csv": lambda each: _delimited(each, ","),
        "tsv": lambda each: _delimited(each, "\t"),
        "parquet": _parquet,
        "json": _json,
        "npy": _npy,
        "pickle": _pickle,
        "png": lambda each: _picture(each, "png"),
        "svg": lambda each: _picture(each, "svg"),
        "text": _text,
    }
    try:
        return writers[form](value)
    except ImportError as error:
        raise NotSaved(f"{form} needs a library that is not installed: {error}") from None


def _delimited(value: Any, mark: str) -> bytes:
    if is_of(value, "pandas", "DataFrame", "Series"):
        is_counted = is_of(value.index, "pandas", "RangeIndex")
        return str(value.to_csv(sep=mark, index=not is_counted)).encode("utf-8")
    if is_of(value, "polars", "DataFrame"):
        return str(value.write_csv(separator=mark)).encode("utf-8")
    if is_of(value, "pyarrow", "Table"):
        from pyarrow import csv as arrow_csv

        target = io.BytesIO()
        options = arrow_csv.WriteOptions(delimiter=mark)
        arrow_csv.write_csv(value, target, options)
        return target.getvalue()
    return _rows(value, mark)


def _rows(value: Any, mark: str) -> bytes:
    if is_of(value, "numpy", "ndarray") and value.ndim in (1, 2):
        value = value.tolist()
    if not is_instance(value, list) or not value:
        raise _unfit(value, "csv", "a table, or a list of rows")
    target = io.StringIO()
    if all(is_instance(row, dict) for row in value):
        names = list(dict.fromkeys(name for row in value for name in row))
        table = csv.DictWriter(target, names, delimiter=mark, lineterminator="\n")
        table.writeheader()
        table.writerows(value)
    else:
        rows = (row if isinstance(row, list | tuple) else [row] for row in value)
        csv.writer(target, delimiter=mark, lineterminator="\n").writerows(rows)
    return target.getvalue().encode("utf-8")


def _parquet(value: Any) -> bytes:
    target = io.BytesIO()
    if is_of(value, "pandas", "DataFrame"):
        value.to_parquet(target)
    elif is_of(value, "polars", "DataFrame"):
        value.write_parquet(target)
    elif is_of(value, "pyarrow", "Table"):
        from pyarrow import parquet

        parquet.write_table(value, target)
    else:
        raise _unfit(value, "parquet", "a DataFrame or an Arrow table")
    return target.getvalue()


def _json(value: Any) -> bytes:
    if is_of(value, "pandas", "DataFrame"):
        return str(value.to_json(orient="records", date_format="iso", indent=1)).encode("utf-8")
    if is_of(value, "pandas", "Series"):
        return str(value.to_json(date_format="iso", indent=1)).encode("utf-8")
    if is_of(value, "polars", "DataFrame"):
        return str(value.write_json()).encode("utf-8")
    if is_of(value, "numpy", "ndarray", "generic"):
        value = value.tolist()
    try:
        return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise NotSaved(f"the value is no JSON: {error}; pickle takes any value") from None


def _npy(value: Any) -> bytes:
    numpy = library("numpy")
    if numpy is None or not is_of(value, "numpy", "ndarray"):
        raise _unfit(value, "npy", "an array of numpy")
    if value.dtype.hasobject:
        raise NotSaved("npy takes no arrays of objects; pickle does")
    target = io.BytesIO()
    numpy.save(target, value, allow_pickle=False)
    return target.getvalue()


def _pickle(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotSaved(f"the value cannot be pickled: {error}") from None


def _picture(value: Any, kind: str) -> bytes:
    if not is_figure(value):
        raise _unfit(value, kind, "a figure of matplotlib")
    target = io.BytesIO()
    value.savefig(target, format=kind, bbox_inches="tight")
    return target.getvalue()


def _text(value: Any) -> bytes:
    if is_instance(value, str):
        return str.encode(value, "utf-8", "surrogatepass")
    if is_instance(value, bytes):
        return bytes(value)
    raise _unfit(value, "text", "text")


def _unfit(value: Any, form: str, wants: str) -> NotSaved:
    kind = full_name(type(value))
    return NotSaved(f"{form} takes {wants}, and this is {told(value, 60)} ({kind})")
