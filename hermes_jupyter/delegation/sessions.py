"""The session of a child: its own conversation, shell and to-do list, in its parent's project."""

from __future__ import annotations

from collections.abc import Iterator, MutableSet

from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from hermes_jupyter.store.audit import AuditLog
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from tools.environments.job_table import JobOwner
from tools.files.workspace import place_of


class ChildSession(Session):
    """Opened where one may wait; closed by whoever opened it.

    What a person has allowed or denied is the parent's, and so are the trash, the placeholders of
    secrets, and the files that count as written by the agent.
    """

    def __init__(
        self, parent: Session, stored: Sessions, settings: Settings, *, name: str, identity: str
    ) -> None:
        folder = parent.terminals.local.cwd
        full = f"{parent.name}/{identity}"
        about = About(full, parent.journal.about.notebook, folder, parent.id, is_child=True)
        super().__init__(
            full,
            stored.begin(about),
            settings.home,
            settings.env_passthrough,
            skill_folders=settings.skill_folders,
            # Its background processes end with it, also when the kernel is started again.
            owner=JobOwner(key=parent.terminals.local.processes.owner.key),
            folder=folder,
        )
        self.desk = parent.desk.child(name, identity)
        self.audit = AuditLog(settings.home, f"{parent.name} › {name}")
        self.terminals = parent.terminals.beside(self.terminals.local)
        self.project = parent.project
        self.trash = parent.trash
        self.secrets = parent.secrets
        self.overlay = parent.overlay
        self.scanner = parent.scanner
        self.memory = parent.memory
        self.skills = parent.skills
        self.written: Written = Written(parent.written, place_of(self.terminals.current).name)


class Written(MutableSet[str]):
    """The files that all agents of a session have written, and which of them are this one's.

    A script that one of them has written is judged whoever runs it.

    Parameters
    ----------
    place
        The name of the place that this one works in, as it stands before each path.
    """

    def __init__(self, shared: MutableSet[str], place: str = "") -> None:
        self._shared, self._prefix = shared, f"{place}:" if place else ""
        self._own: set[str] = set()

    @property
    def paths(self) -> list[str]:
        """Of the files that were written here, without what is noted beside them."""
        found = (entry for entry in tuple(self._own) if "\0" not in entry)
        return sorted(entry.removeprefix(self._prefix) for entry in found)

    def add(self, value: str) -> None:
        self._own.add(value)
        self._shared.add(value)

    def discard(self, value: str) -> None:
        self._own.discard(value)
        self._shared.discard(value)

    def __contains__(self, value: object) -> bool:
        return value in self._shared

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._shared))

    def __len__(self) -> int:
        return len(self._shared)
