"""What outlives a turn: a conversation, its shell, and what a person has allowed in it."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, MutableSet
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.compaction.sizes import Gauge
from hermes_jupyter.agent.tool_search.arrangement import ToolSearch
from hermes_jupyter.agent.usage_log import UsageLog
from hermes_jupyter.errors import TurnError
from hermes_jupyter.redaction import KNOWN
from hermes_jupyter.road.approval import ApprovalDesk, AskingDesk
from hermes_jupyter.road.grants import Grants
from hermes_jupyter.road.secrets import Secrets
from hermes_jupyter.store.album import Album
from hermes_jupyter.store.audit import AuditLog
from hermes_jupyter.store.handles import Handles
from hermes_jupyter.store.job_events import JobEvents
from hermes_jupyter.store.mailbox import Mailbox
from hermes_jupyter.store.memory import Memory
from hermes_jupyter.store.sessions.catalog import Reopened
from hermes_jupyter.store.sessions.endings import Ending, Unfinished
from hermes_jupyter.store.sessions.journal import Journal
from hermes_jupyter.store.sessions.state import state_of, todos_of, usage_of
from hermes_jupyter.store.sessions.transcript import Transcript
from hermes_jupyter.store.skills import Skills
from hermes_jupyter.store.standing import StandingRules
from tools.async_bridge import loop_thread
from tools.environments.backends import OpenOptions
from tools.environments.base import Environment
from tools.environments.job_table import JobOwner, JobTable, this_process
from tools.environments.local import LocalEnvironment
from tools.environments.sudo import Sudo
from tools.environments.terminals import Terminals
from tools.files.project import project_of
from tools.files.trash import Trash
from tools.registry import ToolRegistry
from tools.safety.scanner import Scanner


class Session:
    """A conversation: its transcript, its shell, its to-do list, its standing approvals.

    Parameters
    ----------
    stored
        Where it is written; or the conversation that it goes on with.
    folder
        Where its shell on this machine begins; the process's folder if empty.
    """

    def __init__(
        self,
        name: str,
        stored: Journal | Reopened,
        home: Path | None = None,
        passed: tuple[str, ...] = (),
        *,
        skill_folders: tuple[str, ...] = (),
        owner: JobOwner | None = None,
        terminal: Mapping[str, str] | None = None,
        folder: str = "",
    ) -> None:
        self.name = name
        home = home or Path.home() / ".hermes"
        self._reopened = stored if isinstance(stored, Reopened) else None
        self.journal = journal = stored.journal if isinstance(stored, Reopened) else stored
        self.handles = Handles(home, name)
        self.audit = AuditLog(home, name)
        there = self._reopened
        self.transcript = there.transcript if there else Transcript(journal)
        state = there.about.state if there else {}
        ending = there.ending if there else Ending()
        self.unfinished: Unfinished | None = ending.unfinished
        """The last turn, if it ended before its work was done."""
        self.mailbox = Mailbox(journal, ending.unread)
        self.todos: list[dict[str, Any]] = todos_of(state)
        journal.state = lambda: state_of(self.todos, self.usage)
        journal.count = self.transcript.count_said
        self.written: MutableSet[str] = set()
        self.desk: AskingDesk = ApprovalDesk(Grants(StandingRules(home)))
        self.overlay = ToolRegistry()
        """Tools of this session alone; they win over those of the same name."""
        self.tool_search = ToolSearch()
        self.secrets = Secrets()
        self.sudo = Sudo(KNOWN.add_password)
        self.scanner = Scanner()
        self.memory = Memory(home)
        self.skills = Skills(home, skill_folders)
        self.album = Album(journal.picture)
        self.trash = Trash(home / "jupyter" / "trash", name)
        self.shell_turn = threading.Lock()
        """Held by the call whose command runs in the shell."""
        owner = replace(owner or this_process(), session=name)
        self.job_events = JobEvents(home, owner.key, name)
        jobs = JobTable(home / "jupyter" / "jobs", owner, self.job_events)
        cwd = folder or str(Path.cwd())
        local = LocalEnvironment(cwd, passed=passed, sudo=self.sudo, jobs=jobs)
        self.terminals = Terminals(local, terminal or {}, _options(name))
        self.project = project_of(Path.cwd())
        """What it may change with fewer questions; stays, wherever the shell goes."""
        self.usage = usage_of(state)
        self.usage_log = UsageLog()
        self.told_cells: dict[str, str] = {}
        """The notebook's cells that the model has been told of: see `notebook.telling`."""
        self.turns: list[str] = []
        """Ids of its turns, so far as they are known here."""
        self.gauge = Gauge()
        """How large its messages are to the model that reads them."""
        self._task: asyncio.Task[Any] | None = None
        self.on_close: Callable[[], None] = lambda: None

    def note_end(self, prompt: str, *, is_kept: bool, is_done: bool) -> None:
        """A turn has ended; ``is_kept``: the transcript holds what was done for its prompt."""
        self.unfinished = None if is_done else Unfinished(prompt=prompt, is_kept=is_kept)

    def rename(self, name: str) -> None:
        """Call it something else; its log and its files keep their names."""
        self.name = name

    @property
    def id(self) -> str:
        """The id under which it is stored."""
        return self.journal.id

    def taken_up(self) -> Reopened | None:
        """The stored conversation that it goes on with; only before its first turn."""
        reopened, self._reopened = self._reopened, None
        return reopened

    @property
    def environment(self) -> Environment:
        """Where its commands run.

        Raises
        ------
        HostError
            If that cannot be opened.
        """
        return self.terminals.current

    @property
    def busy(self) -> bool:
        """Does a turn of it run?"""
        return self._task is not None

    @property
    def stranded(self) -> bool:
        """Does its turn hang on an agent loop that a bad tool has blocked for good?"""
        return self._task is not None and self._task.get_loop() is not loop_thread().loop

    def must_be_free(self) -> None:
        """Raise a TurnError if a turn of it runs."""
        if self._task is not None:
            raise TurnError(
                f"session {self.name!r} is busy with another turn; wait, stop it with "
                "%hermes stop, or use another one: --session NAME"
            )

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Let the current task be the session's turn; TurnError if another one is."""
        self.must_be_free()
        self._task = asyncio.current_task()
        try:
            yield
        finally:
            self._task = None

    def stop(self) -> bool:
        """Interrupt the turn that runs, if one does. Any thread."""
        task = self._task
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)
        return task is not None

    async def end_turn(self, within: float) -> None:
        """Interrupt the turn that runs, and wait up to so many seconds for its end."""
        task = self._task
        if self.stop() and task is not None and task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({task}, timeout=within)

    def close(self) -> None:
        self.on_close()
        self.desk.release()
        self.terminals.close()
        self.job_events.clear()
        self.sudo.close()
        self.handles.close()
        self.journal.close()


def _options(name: str) -> OpenOptions:
    """What a terminal elsewhere is opened for: the same one for this session in this folder."""
    folder = str(Path.cwd())
    mark = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return OpenOptions(session=f"{name}-{mark}", workspace=folder)
