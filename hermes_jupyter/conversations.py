"""The conversations of one kernel: which are open, which is the current one, which are stored.

A notebook goes on with its own conversation after a restart. A kernel cannot write the metadata
of cells, so the id stands where it can write: in the record of each turn, below the cell. Beside
it the stored conversation knows the path of its notebook, as Jupyter tells it to kernels
(``JPY_SESSION_NAME``).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from hermes_jupyter.errors import StoreError, TurnError
from hermes_jupyter.session import Session
from hermes_jupyter.store.sessions.browsing import Browser
from hermes_jupyter.store.sessions.catalog import Reopened, Sessions, Stored
from hermes_jupyter.store.sessions.journal import About, Journal
from hermes_jupyter.store.sessions.mentions import ids_in

logger = logging.getLogger(__name__)

Make = Callable[[str, "Journal | Reopened"], Session]


class Conversations:
    """Open sessions by name. Sessions of other kernels are reached by `stored`.

    Parameters
    ----------
    make
        Makes the session of this name, which writes to a journal or goes on with what is stored.
    notebook
        Path of the notebook that this kernel runs for; empty if that is not known.
    """

    def __init__(self, stored: Sessions, make: Make, notebook: str = "") -> None:
        self.stored = stored
        self.current = "main"
        self.notices: list[str] = []
        """What a person should hear at the next turn; emptied by whoever tells it."""
        self._make = make
        self._notebook = notebook
        self._open: dict[str, Session] = {}

    def session(self, name: str = "") -> Session:
        """The named session, made or taken up if it is not open; without a name the current."""
        name = name or self.current
        if name not in self._open:
            self._open[name] = self._make(name, self._own(name) or self._fresh(name))
        return self._open[name]

    def open_ones(self) -> list[Session]:
        return list(self._open.values())

    def begin(self, name: str = "") -> Session:
        """Begin anew under this name. What was there stays stored.

        Raises
        ------
        TurnError
            If a turn of it still runs.
        """
        name = name or self.current
        self.put_away(name)
        self._open[name] = self._make(name, self._fresh(name))
        return self._open[name]

    def resume(self, about: Stored) -> Session:
        """Go on with a stored conversation; it is the current one from now on.

        Raises
        ------
        TurnError
            If a turn runs in the session whose place it would take.
        StoreError
            If it is open in another kernel, or cannot be read.
        """
        session = self.open_here(about.id)
        if session is None:
            self._must_be_free(about.name)
            reopened = self.stored.reopen(about.id)
            self.put_away(about.name)
            session = self._open[about.name] = self._make(about.name, reopened)
            if self._notebook:
                self.stored.move(about.id, self._notebook)
        self.current = session.name
        return session

    def fork(self, about: Stored, name: str) -> Session:
        """Go on with a copy of a stored conversation. Raises as `resume`."""
        session = self.open_here(about.id)
        if session is not None:
            session.must_be_free()
        return self.resume(self.stored.fork(about, name=name, notebook=self._notebook))

    def rename(self, about: Stored, name: str) -> None:
        """Give a stored conversation another name.

        Raises
        ------
        TurnError
            If another session of this kernel has it.
        """
        session = self.open_here(about.id)
        if session is not None and session.name != name:
            if name in self._open:
                raise TurnError(f"another session of this kernel is named {name!r}")
            self._open[name] = self._open.pop(session.name)
            self.current = name if self.current == session.name else self.current
            session.rename(name)
        self.stored.rename(about.id, name)

    def delete(self, about: Stored) -> None:
        """Remove a stored conversation; if it is open here, its name begins anew.

        Raises
        ------
        TurnError
            If a turn of it runs.
        StoreError
            If it is open in another kernel.
        """
        session = self.open_here(about.id)
        if session is not None:
            self.begin(session.name)
        self.stored.delete(about)

    def put_away(self, name: str) -> None:
        """Close the open session of this name, if there is one; it stays stored.

        Raises
        ------
        TurnError
            If a turn of it still runs.
        """
        self._must_be_free(name)
        old = self._open.pop(name, None)
        if old is not None:
            old.close()

    def browser(self, session: Session) -> Browser:
        """What the agent of a session sees of all of them."""
        return Browser(self.stored, session.id)

    def open_here(self, identity: str) -> Session | None:
        """The open session with this id."""
        return next((each for each in self._open.values() if each.id == identity), None)

    def close(self) -> None:
        for session in self._open.values():
            session.close()
        self._open.clear()
        self.stored.close()

    def take_notices(self) -> list[str]:
        """What a person should hear now."""
        told = [*self.stored.database.notices, *self.notices]
        self.stored.database.notices.clear()
        self.notices.clear()
        return told

    def _fresh(self, name: str) -> Journal:
        return self.stored.begin(About(name, self._notebook, str(Path.cwd())))

    def _own(self, name: str) -> Reopened | None:
        """The conversation of this name that the notebook had last."""
        if not self._notebook:
            return None
        try:
            about = self._last_of_notebook(name)
            return self.stored.reopen(about.id) if about else None
        except StoreError as error:
            logger.warning("the notebook's conversation cannot be taken up", exc_info=True)
            self.notices.append(f"a new conversation begins: {error}")
            return None

    def _last_of_notebook(self, name: str) -> Stored | None:
        there = {about.id: about for about in self.stored.of_notebook(self._notebook, name)}
        for identity in ids_in(Path(self._notebook)):
            if identity not in there and (about := self.stored.look_up(identity)):
                there[identity] = about
        named = [about for about in there.values() if about.name == name]
        about = max(named, key=lambda one: one.updated, default=None)
        if about is None or about.notebook == self._notebook:
            return about
        if about.notebook and Path(about.notebook).exists():  # this notebook is a copy of that one
            return self.stored.fork(about, notebook=self._notebook)
        self.stored.move(about.id, self._notebook)
        return about

    def _must_be_free(self, name: str) -> None:
        old = self._open.get(name)
        if old is not None and not old.stranded:
            old.must_be_free()
