"""Shell text as values: what it would run, with the words as the shell would pass them.

`commands_of` is in the module ``runner``; here are the values that others handle.
"""

from tools.safety.shell.values import Command, Redirection, Unreadable, Word

__all__ = ["Command", "Redirection", "Unreadable", "Word"]
