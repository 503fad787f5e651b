"""Take files back, as a turn of its own that can be taken back in turn."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.checkpoints import looking, rows
from hermes_jupyter.store.checkpoints.planning import Step, plan, wanted_by_restore, wanted_by_undo
from hermes_jupyter.store.checkpoints.putting import NOT_EMPTY, Putter, Putting
from hermes_jupyter.store.checkpoints.rows import Turn, TurnKind
from hermes_jupyter.store.checkpoints.states import SEPARATOR, there
from hermes_jupyter.store.checkpoints.store import MOST_EXACT_BYTES, Store


@dataclass(frozen=True, slots=True)
class Undo:
    """What shall be done, worked out; `carry_out` does it."""

    turn: Turn
    """What is taken back; for a restore the first of several."""
    kind: TurnKind
    steps: tuple[Step, ...]

    @property
    def to_do(self) -> list[Step]:
        return [step for step in self.steps if step.verdict == "do"]

    @property
    def is_whole(self) -> bool:
        """Is nothing left over?"""
        return all(step.verdict in ("do", "same") for step in self.steps)


def undo(store: Store, turn: Turn, *, force: bool) -> Undo:
    """Plan to take a turn back; that of an undo does again what it took back."""
    with store.database.read() as connection:
        wanted = wanted_by_undo(connection, turn.number)
    return Undo(turn, "undo", tuple(plan(wanted, MOST_EXACT_BYTES, force=force)))


def restore(store: Store, turn: Turn, paths: Sequence[bytes], *, force: bool) -> Undo:
    """Plan to have files as they were before a turn and all that came after it."""
    with store.database.read() as connection:
        wanted = wanted_by_restore(connection, turn.number, paths)
    return Undo(turn, "restore", tuple(plan(wanted, MOST_EXACT_BYTES, force=force)))


@dataclass(frozen=True, slots=True)
class Done:
    """What an undo left."""

    number: int
    problems: dict[bytes, str]
    """Why a path could not be put back."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What was taken back of other kinds than files."""

    bodies: Mapping[str, str] = field(default_factory=dict)
    """By kind, as JSON."""
    is_whole: bool = True


def carry_out(
    store: Store,
    wanted: Undo,
    *,
    session: str,
    identity: str = "",
    others: Callable[[], Parts] = Parts,
) -> Done:
    """Keep what is there now, then put things back. May be done again after a crash.

    Parameters
    ----------
    identity
        Of the new turn.
    others
        Takes other kinds of things back; called once it is sure that the undo will happen.

    Raises
    ------
    StoreError
        If what is there now cannot be kept; then nothing was changed.
    """
    identity = identity or secrets.token_hex(6)
    with store.lock:
        try:
            number = _noted(store, wanted, session, identity)
        except OSError as error:
            raise StoreError(f"what is there now cannot be kept: {error}") from error
        try:
            parts = others()
            problems = _put(store, wanted, identity, number)
            _add_parts(store, number, parts)
        finally:
            store.end(number)
        # A folder that holds somebody's files by now has to stay, and nothing is missing.
        is_done = all(why == NOT_EMPTY for why in problems.values())
        if wanted.kind == "undo" and wanted.is_whole and parts.is_whole and is_done:
            _mark(store, wanted.turn, number)
    return Done(number, problems)


def _add_parts(store: Store, number: int, parts: Parts) -> None:
    with store.database.write() as connection:
        connection.executemany(
            "INSERT INTO part VALUES (?, ?, ?)",
            [(number, kind, body) for kind, body in parts.bodies.items()],
        )


def _noted(store: Store, wanted: Undo, session: str, identity: str) -> int:
    with store.beginning(
        identity=identity,
        kind=wanted.kind,
        session=session,
        title=wanted.turn.title,
        undoes=wanted.turn.number,
    ) as (connection, number):
        for step in wanted.to_do:
            now = there(step.path, MOST_EXACT_BYTES, connection)
            rows.claim(connection, number, step.path, now, exact=True)
    return number


def _put(store: Store, wanted: Undo, identity: str, number: int) -> dict[bytes, str]:
    with store.database.read() as connection:
        putter = Putter(connection, identity, MOST_EXACT_BYTES)
        putter.put([Putting(step.path, step.now, step.wanted) for step in wanted.to_do])
    with store.database.write() as connection:
        for step in sorted(wanted.to_do, key=lambda each: each.path):
            looking.present(connection, step.path, MOST_EXACT_BYTES)
    return putter.problems


def _mark(store: Store, turn: Turn, by: int) -> None:
    """Note that a turn is taken back; to take back an undo makes its turn stand again."""
    with store.database.write() as connection:
        connection.execute("UPDATE turn SET undone = ? WHERE number = ?", (by, turn.number))
        if turn.kind == "undo" and turn.undoes is not None:
            connection.execute("UPDATE turn SET undone = NULL WHERE number = ?", (turn.undoes,))


def name_of(path: bytes, root: bytes) -> str:
    """The path for a person: relative in the workspace."""
    top = root.rstrip(SEPARATOR) + SEPARATOR
    return os.fsdecode(path.removeprefix(top))
