"""Records of turns in notebooks, as far as this version understands them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_jupyter.recording.schema import fault
from hermes_jupyter.views.record import MIME, VERSION

NEW_IN_2: Mapping[str, Any] = {
    "after": "",
    "cell": "",
    "line": "",
    "depends_sha256": "",
    "tools": [],
}


def record_in(bundle: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record in an output's MIME bundle, brought to the newest version.

    None if it has none, or one that this version cannot read: of a newer program, or broken. Then
    the bundle's HTML, Markdown and text say what happened.
    """
    record = bundle.get(MIME)
    if not isinstance(record, dict):
        return None
    if record.get("v") == 1:
        record = {**record, **NEW_IN_2, "v": VERSION}
    try:
        broken = record.get("v") != VERSION or fault(record, "turn-v2")
    except RecursionError:
        return None
    return None if broken else record
