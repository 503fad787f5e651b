"""What a scripted model says to give work away."""

from __future__ import annotations

from typing import Any

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import Conversation, conversation

ECHO = (call("terminal", command="echo here"),)


def delegating(*tasks: Any, answer: str = "All is done.", **args: Any) -> Conversation:
    """A turn that gives these tasks away; a text is a goal."""
    told = [{"goal": task} if isinstance(task, str) else task for task in tasks]
    given = {"tasks": told, **args} if told else args
    return conversation("^share", (call("delegate_task", **given),), answer)
