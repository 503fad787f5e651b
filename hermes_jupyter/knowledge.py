"""What the agent is told before a conversation begins: gathered from disk, once."""

from __future__ import annotations

import time
from pathlib import Path

from hermes_jupyter.agent.prompt import Knowledge
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from hermes_jupyter.store.project_rules import MAX_CHARS, project_rules, soul
from tools.files.workspace import place_of

CHARS_PER_TOKEN = 3
SHARE = 10
"""Percent of the model's window that each text of others may take."""


def knowledge_for(
    session: Session, settings: Settings, model: str, window: int
) -> tuple[Knowledge, tuple[str, ...]]:
    """What to say, and what a person should know was left out. Reads files.

    Parameters
    ----------
    window
        Tokens of the model's context window; 0 if nobody knows.
    """
    limit = min(MAX_CHARS, window * CHARS_PER_TOKEN * SHARE // 100) or MAX_CHARS
    environment = session.environment
    # Of the notebook's project, also where commands run elsewhere.
    folder = session.project if place_of(environment).name else environment.cwd
    rules = project_rules(Path(folder), Path(session.project), limit)
    identity = soul(settings.home, limit)
    knowledge = Knowledge(
        identity=identity.text,
        skills=_lines_within(session.skills.index(), limit),
        rules=rules.text,
        rules_from=", ".join(path.name for path in rules.sources),
        notebook=settings.notebook,
        memory=session.memory.snapshot(),
        day=time.strftime("%Y-%m-%d"),
        session=session.name,
        model=model,
    )
    return knowledge, tuple(filter(None, (identity.left_out, rules.left_out)))


def _lines_within(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    kept = text[:limit].rpartition("\n")[0]
    return f"{kept}\n(and more: see skills_list)" if kept else ""
