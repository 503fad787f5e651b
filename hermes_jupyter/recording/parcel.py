"""How a recording goes with its notebook: in the record below the cell, or in a file beside."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import Event, NoticeGiven, TurnRecorded
from hermes_jupyter.recording.encoding import as_json
from hermes_jupyter.recording.sidecars import Sidecars
from hermes_jupyter.recording.values import Recording
from hermes_jupyter.store.sessions.masking import dumped

MAX_IN_NOTEBOOK = 100_000
"""Bytes of JSON."""


def parcel(recording: Recording, sidecars: Sidecars) -> Iterator[Event]:
    """What the record of the turn must say of its recording; writes the file if one is needed."""
    content = as_json(recording)
    text = dumped(content)
    size = len(text.encode("utf-8"))
    about = {"sha256": str(content["sha256"]), "size": size}
    if size <= MAX_IN_NOTEBOOK:
        yield TurnRecorded(content=content, **about)  # type: ignore[arg-type]
        return
    try:
        name = sidecars.write(recording.turn, text)
    except StoreError as error:
        yield NoticeGiven(text=str(error), level="warning")
    else:
        yield TurnRecorded(file=name, **about)  # type: ignore[arg-type]
