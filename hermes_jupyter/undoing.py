"""Take back what a turn changed, of all kinds: find the turn, plan, carry it out."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from hermes_jupyter.errors import ConfigurationError, StoreError, TurnError
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.session import Session
from hermes_jupyter.store.checkpoints import rows, undoing
from hermes_jupyter.store.checkpoints.rows import Turn
from hermes_jupyter.store.checkpoints.store import Store
from hermes_jupyter.store.checkpoints.undoing import Done, Parts, Undo
from hermes_jupyter.undoable import Item, Undoable, read_item

OFF = "no checkpoints are kept; %config Hermes.checkpoint_space = 1024 switches them on"
LEAST_OF_ID = 6
NOT_HERE = "nothing here can take that back"


@dataclass(frozen=True, slots=True)
class Taking:
    """What an undo would do, of all kinds."""

    files: Undo
    items: dict[str, list[Item]] = field(default_factory=dict)
    """By kind, each with the reason why it cannot be taken back, if so."""
    force: bool = False

    @property
    def turn(self) -> Turn:
        return self.files.turn

    @property
    def is_nothing(self) -> bool:
        """Is there nothing left to do?"""
        able = any(not item.problem for items in self.items.values() for item in items)
        return not able and not self.files.to_do

    @property
    def is_whole(self) -> bool:
        """Would nothing be left over?"""
        problems = any(item.problem for items in self.items.values() for item in items)
        return self.files.is_whole and not problems


@dataclass(frozen=True, slots=True)
class Taken:
    """What an undo did."""

    files: Done
    items: dict[str, list[Item]]


class Undoing:
    """The checkpoints of the workspace of one session.

    Raises
    ------
    ConfigurationError
        If no checkpoints are kept.
    """

    def __init__(self, hermes: Hermes, session: Session) -> None:
        if not hermes.settings.checkpoint_space:
            raise ConfigurationError(OFF)
        self._hermes = hermes
        self._session = session
        self.store: Store = hermes.checkpoint_store(session)
        self.root = self.store.area.root

    def last(self) -> Turn:
        """The last turn of this conversation that stands. Raises a StoreError if there is none."""
        mine = [turn for turn in self.store.turns() if turn.session == self._session.id]
        standing = [turn for turn in mine if turn.kind != "undo" and turn.undone is None]
        if not standing:
            raise StoreError(
                "this conversation has no turn that changed something and was not undone; "
                "%hermes checkpoints lists those of others in this folder"
            )
        return standing[-1]

    def last_undo(self, word: str = "") -> Turn:
        """The last undo that still holds, or that of a turn. Raises a StoreError if none does."""
        turns = self.store.turns()
        by = {turn.undone for turn in turns if turn.kind != "undo"}
        holding = [turn for turn in turns if turn.number in by]
        if word:
            named = self.find(word)
            holding = [each for each in holding if each.number in (named.number, named.undone)]
        if not holding:
            raise StoreError("there is no undo that could be taken back")
        return holding[-1]

    def find(self, word: str) -> Turn:
        """The turn with this number, or this id. Raises a StoreError if there is none."""
        for turn in self.store.turns():
            is_id = len(word) >= LEAST_OF_ID and turn.id.startswith(word)
            if is_id or word.lstrip("#") == str(turn.number):
                return turn
        raise StoreError(f"there is no checkpoint {word!r}; %hermes checkpoints lists them")

    def items(self, turn: Turn) -> dict[str, list[Item]]:
        """What of other kinds than files the turn changed."""
        with self.store.database.read() as connection:
            bodies = rows.parts(connection, turn.number)
        return {
            kind: [read_item(each) for each in json.loads(body)] for kind, body in bodies.items()
        }

    def plan(self, turn: Turn, *, force: bool) -> Taking:
        """What it takes to undo a turn."""
        items = {
            kind: self._of(kind).plan(turn.id, told, force=force)
            for kind, told in self.items(turn).items()
        }
        return Taking(undoing.undo(self.store, turn, force=force), items, force)

    def plan_restore(self, turn: Turn, paths: Sequence[str], *, force: bool) -> Taking:
        """What it takes to have files as they were before a turn and all that came later."""
        names = [_place(path) for path in paths]
        found = undoing.restore(self.store, turn, names, force=force)
        if not found.steps and paths:
            raise StoreError(
                f"no turn since {turn.number} changed {', '.join(paths)}; "
                f"%hermes diff {turn.number} shows what it changed"
            )
        return Taking(found, {}, force)

    def carry_out(self, taking: Taking) -> Taken:
        """Do what was planned, as a turn of its own. Raises a StoreError if it could not be."""
        self.must_be_quiet()
        identity = secrets.token_hex(6)
        items: dict[str, list[Item]] = {}

        def others() -> Parts:
            for kind, told in taking.items.items():
                of = self._of(kind)
                items[kind] = of.undo(taking.turn.id, told, identity, force=taking.force)
            done = {k: [i for i in told if not i.problem] for k, told in items.items()}
            bodies = {k: json.dumps([asdict(i) for i in told]) for k, told in done.items() if told}
            whole = not any(item.problem for told in items.values() for item in told)
            return Parts(bodies, whole)

        done = undoing.carry_out(
            self.store, taking.files, session=self._session.id, identity=identity, others=others
        )
        return Taken(done, items)

    def _of(self, kind: str) -> Undoable:
        return next((each for each in self._hermes.undoables if each.kind == kind), Unknown(kind))

    def must_be_quiet(self) -> None:
        """Raise a TurnError if a turn runs that may change files right now."""
        with self.store.lock:  # a turn that has just ended may still be looking
            busy = [each.name for each in self._hermes.sessions() if each.busy]
            running = self.store.running()
        if busy:
            raise TurnError(
                f"a turn of {busy[0]!r} runs now; wait for it, or stop it with %hermes stop"
            )
        if running:
            raise TurnError(
                f"turn {running[0].number} runs in this folder now, maybe in another kernel; "
                "wait for its end"
            )


def _place(path: str) -> bytes:
    """The absolute path; a link at its end stays one."""
    given = Path(path).expanduser().absolute()
    whole = os.path.normpath(given)
    return os.fsencode(Path(os.path.realpath(Path(whole).parent), Path(whole).name))


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for what a later version of this program could take back."""

    kind: str

    def begin(self, turn: str, tool: str) -> None:
        """Nothing to note."""

    def end(self, turn: str) -> list[Item]:
        """Nothing is known."""
        return []

    def plan(self, turn: str, items: list[Item], *, force: bool) -> list[Item]:
        """Nothing can be done."""
        return [Item(name=item.name, how=item.how, problem=NOT_HERE) for item in items]

    def undo(self, turn: str, items: list[Item], by: str, *, force: bool) -> list[Item]:
        """Nothing is done."""
        return self.plan(turn, items, force=force)
