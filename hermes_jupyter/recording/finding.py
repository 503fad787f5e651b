"""Which recording belongs to the cell that asks.

By the cell's id and the prompt where the front end tells the id; else by the prompt, and the
order in which the same prompt is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hermes_jupyter.calls import Place
from hermes_jupyter.errors import RecordingError
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.slots import (
    Slot,
    Source,
    file_source,
    folder_source,
    notebook_source,
    notebooks_in,
    shelf_source,
)
from hermes_jupyter.recording.values import Recording

MAX_SHOWN = 60
RECORD = "record it: %%agent --record or HERMES_RECORD=1, without --replay and HERMES_REPLAY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a cell asks."""

    prompt: str
    prompt_sha256: str
    line: str
    place: Place

    @property
    def named(self) -> str:
        """The cell, for messages: ``In [3] “Sum up ...”``."""
        lines = [line.strip() for line in self.prompt.splitlines() if line.strip()]
        first = lines[0] if lines else ""
        short = first if len(first) <= MAX_SHOWN else f"{first[: MAX_SHOWN - 1]}…"
        number = f"In [{self.place.number}] " if self.place.number else ""
        return f"{number}“{short}”"

    @property
    def may_repeat(self) -> bool:
        """May it be the same question once more? So where a person runs cells without ids."""
        place = self.place
        return not place.cell and (place.attended or not place.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where recordings may lie."""

    chosen: str
    """What the user names; then nowhere else."""
    notebook: str
    """The notebook's file; empty if it is not known."""
    folder: Path
    shelf: Shelf
    began: Path | None = None
    """The folder in which the kernel was started, if it may be another one."""

    def sources(self, prompt_sha256: str) -> Iterator[Source]:
        """The places to look at, in order."""
        if self.chosen:
            yield from file_source(Path(self.chosen).expanduser())
            return
        if self.notebook:
            yield notebook_source(Path(self.notebook))
            yield folder_source(Path(self.notebook).parent)
        else:
            for folder in dict.fromkeys((self.began or self.folder, self.folder)):
                yield from map(notebook_source, notebooks_in(folder))
                yield folder_source(folder)
        yield shelf_source(self.shelf, prompt_sha256)


@dataclass(slots=True)
class Finder:
    """Finds the recordings of one kernel's cells; it knows which were found before."""

    _found: dict[tuple[str, str], Recording] = field(default_factory=dict)
    """By the id of a cell and its prompt."""
    _times: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How often a prompt was found, not counting a cell that asked again."""

    def find(self, wanted: Wanted, where: Where) -> Recording:
        """The recording of the cell that asks.

        Raises
        ------
        RecordingError
            If there is none, it is of another prompt or other options, or it is broken.
        """
        cell, prompt = wanted.place.cell, wanted.prompt_sha256
        if cell and (cell, prompt) in self._found:
            return self._found[cell, prompt]
        sources = [source for source in where.sources(prompt) if source.slots]
        slot = self._slot(wanted, sources)
        try:
            recording = slot.load()
        except RecordingError as error:
            raise RecordingError(f"{wanted.named} cannot be replayed: {error}") from error
        if recording.prompt_sha256 != prompt:
            raise RecordingError(
                f"{wanted.named} cannot be replayed: the recording at its place is of another "
                f"prompt; {RECORD}"
            )
        self._times[prompt] += 1
        if cell:
            self._found[cell, prompt] = recording
        return recording

    def _slot(self, wanted: Wanted, sources: Sequence[Source]) -> Slot:
        number = self._times[wanted.prompt_sha256]
        again: list[Slot] = []
        for source in sources:
            fitting = _best(wanted, source)
            same = [slot for slot in fitting if slot.line == wanted.line]
            own = [slot for slot in same if wanted.place.cell and slot.cell == wanted.place.cell]
            if own:
                return own[-1]
            if len(same) > number:
                return same[number]
            if fitting and not same:
                raise RecordingError(
                    f"{wanted.named} cannot be replayed: it was recorded with other options "
                    f"({fitting[0].line or 'none'}), and now has {wanted.line or 'none'}; use the "
                    f"same, or {RECORD}"
                )
            again = same or again
        if again and wanted.may_repeat:
            return again[-1]
        if again:
            raise RecordingError(
                f"{wanted.named} cannot be replayed: its prompt was recorded {len(again)} times, "
                f"and now is asked once more; {RECORD}"
            )
        raise RecordingError(_mismatch(wanted, sources))


def earlier_of(wanted: Wanted, shelf: Shelf, notebook: str) -> Recording | None:
    """The last turn of the cell that asks; None if nothing is known of it.

    A notebook that was moved or copied still shows the turn: then its record tells which one.
    """
    found = shelf.of_cell(wanted.place.cell)
    if found is not None or not notebook:
        return found
    slots = [
        slot
        for slot in notebook_source(Path(notebook)).slots
        if (slot.cell, slot.prompt_sha256) == (wanted.place.cell, wanted.prompt_sha256)
    ]
    if not slots:
        return None
    try:
        return shelf.of_turn(slots[-1].turn) or slots[-1].load()
    except RecordingError:
        return None


def _best(wanted: Wanted, source: Source) -> list[Slot]:
    """What a source has of the prompt; records without a recording only if there is nothing else.

    A turn that failed, or a replay that found nothing, leaves such a record.
    """
    fitting = [slot for slot in source.slots if slot.prompt_sha256 == wanted.prompt_sha256]
    return [slot for slot in fitting if slot.is_recorded] or fitting


def _mismatch(wanted: Wanted, sources: Sequence[Source]) -> str:
    slots = [slot for source in sources for slot in source.slots]
    if any(wanted.place.cell and slot.cell == wanted.place.cell for slot in slots):
        return (
            f"{wanted.named} cannot be replayed: the prompt of this cell has changed since it was "
            f"recorded. Put it back, or {RECORD}"
        )
    names = ", ".join(dict.fromkeys(source.name for source in sources))
    looked = f"; there are recordings of other prompts in {names}" if names else ""
    return (
        f"{wanted.named} cannot be replayed: there is no recording of this prompt{looked}. If it "
        f"has changed, put it back, or {RECORD}. If its recording lies elsewhere, set "
        "HERMES_RECORDINGS to that notebook or folder"
    )
