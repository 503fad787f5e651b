"""What a child is told before its task."""

from __future__ import annotations

from dataclasses import replace

from hermes_jupyter.agent.prompt import system_prompt
from hermes_jupyter.knowledge import knowledge_for
from hermes_jupyter.session import Session
from hermes_jupyter.settings import Settings
from tools.view import RegistryView

IDENTITY = (
    "You are an agent that works for another agent in the user's Jupyter notebook. You get one "
    "task and do it alone, with tools. You cannot ask anybody, and of all that you do the other "
    "agent reads only your last message. So put into it what was found out or done: results, "
    "numbers, the exact paths of files that you made or changed, and what failed or is left. What "
    "you start in the background ends with you. Be brief and concrete, in the language of the task."
)
ORCHESTRATOR = "Parts of the task that do not need each other you may give to agents of your own."


def child_prompt(
    session: Session, settings: Settings, tools: RegistryView, *, model: str, window: int
) -> str:
    """The system prompt: the same bytes for all children with the same tools. Reads files.

    The project's rules hold for a child, too; what is remembered of the user is not its business.
    """
    knowledge, _ = knowledge_for(session, settings, model, window)
    identity = f"{IDENTITY} {ORCHESTRATOR}" if "delegate_task" in tools.names else IDENTITY
    own = replace(knowledge, identity=identity, memory="", session="")
    return system_prompt(tools.names, session.environment.cwd, own)
