"""What the ``%hermes`` subcommands print. A new one is a function and a line in `COMMANDS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hermes_jupyter.reports.audit import show_audit
from hermes_jupyter.reports.ejecting import eject
from hermes_jupyter.reports.fix import fix
from hermes_jupyter.reports.jobs import jobs
from hermes_jupyter.reports.mind import show_memory, show_skills
from hermes_jupyter.reports.sessions import compact, list_sessions, new_session, show_usage
from hermes_jupyter.reports.status import choose_model, doctor, show_help, show_status, show_version
from hermes_jupyter.reports.stored import (
    delete,
    export_session,
    fork,
    rename,
    resume,
    show_sessions,
)
from hermes_jupyter.reports.terminal import terminal
from hermes_jupyter.reports.tools import show_tools
from hermes_jupyter.reports.trash import trash
from hermes_jupyter.reports.turns import attach, go_on, say, show_last, stop
from hermes_jupyter.reports.undo import redo, restore, show_checkpoints, show_diff, undo

COMMANDS: dict[str, Callable[[Any, Sequence[str]], None]] = {
    "help": show_help,
    "status": show_status,
    "tools": show_tools,
    "model": choose_model,
    "new": new_session,
    "reset": new_session,
    "list": list_sessions,
    "attach": attach,
    "stop": stop,
    "jobs": jobs,
    "say": say,
    "continue": go_on,
    "last": show_last,
    "fix": fix,
    "eject": eject,
    "compact": compact,
    "usage": show_usage,
    "doctor": doctor,
    "version": show_version,
    "audit": show_audit,
    "terminal": terminal,
    "trash": trash,
    "undo": undo,
    "redo": redo,
    "diff": show_diff,
    "restore": restore,
    "checkpoints": show_checkpoints,
    "memory": show_memory,
    "skills": show_skills,
    "sessions": show_sessions,
    "resume": resume,
    "fork": fork,
    "rename": rename,
    "export": export_session,
    "delete": delete,
}
"""Each gets the magics and the words that follow its name."""
