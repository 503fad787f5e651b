"""Where a shell command runs. One file per kind of place; ``base`` says what they share."""

from tools.environments.base import CommandResult, Environment

__all__ = ["CommandResult", "Environment"]
