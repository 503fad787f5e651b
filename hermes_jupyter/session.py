"""What outlives a turn: a conversation, its shell, and what a person has allowed in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.models.base import Message
from hermes_jupyter.agent.tool_search.arrangement import ToolSearch
from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import TurnError
from hermes_jupyter.redaction import KNOWN
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.grants import Grants
from hermes_jupyter.road.secrets import Secrets
from hermes_jupyter.store.audit import AuditLog
from hermes_jupyter.store.handles import Handles
from hermes_jupyter.store.memory import Memory
from hermes_jupyter.store.skills import Skills
from hermes_jupyter.store.standing import StandingRules
from tools.async_bridge import loop_thread
from tools.environments.local import LocalEnvironment
from tools.environments.sudo import Sudo
from tools.files.project import project_of
from tools.files.trash import Trash
from tools.registry import ToolRegistry
from tools.safety.scanner import Scanner


class Session:
    """A conversation: its transcript, its shell, its to-do list, its standing approvals."""

    def __init__(
        self,
        name: str,
        home: Path | None = None,
        passed: tuple[str, ...] = (),
        skill_folders: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        home = home or Path.home() / ".hermes"
        self.handles = Handles(home, name)
        self.audit = AuditLog(home, name)
        self.transcript: list[Message] = []
        self.todos: list[dict[str, Any]] = []
        self.written: set[str] = set()
        self.desk = ApprovalDesk(Grants(StandingRules(home)))
        self.overlay = ToolRegistry()
        """Tools of this session alone; they win over those of the same name."""
        self.tool_search = ToolSearch()
        self.secrets = Secrets()
        self.sudo = Sudo(KNOWN.add_password)
        self.scanner = Scanner()
        self.memory = Memory(home)
        self.skills = Skills(home, skill_folders)
        self.trash = Trash(home / "jupyter" / "trash", name)
        self.environment = LocalEnvironment(str(Path.cwd()), passed=passed, sudo=self.sudo)
        self.project = project_of(Path.cwd())
        """What it may change with fewer questions; stays, wherever the shell goes."""
        self.usage = Usage()
        self._task: asyncio.Task[Any] | None = None

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

    def close(self) -> None:
        self.desk.release()
        self.environment.close()
        self.sudo.close()
        self.handles.close()
