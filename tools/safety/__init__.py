"""What a command does before it runs: its objection, in words a person can weigh."""

from tools.safety.commands import inspect_command
from tools.safety.objection import Objection

__all__ = ["Objection", "inspect_command"]
