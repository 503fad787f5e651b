"""What a command does before it runs: its verdict, and its objection in words for a person."""

from tools.safety.effect import Effect, Judgement
from tools.safety.judge import inspect_command, judge_command
from tools.safety.objection import Objection

__all__ = ["Effect", "Judgement", "Objection", "inspect_command", "judge_command"]
