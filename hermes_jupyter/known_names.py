"""The names that completion offers. Looks up only what is asked for, and starts nothing.

A front end waits a second for the first suggestions of a fresh kernel, and then shows none. So no
tool is imported here: those that come with this package are known by their toolsets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hermes_jupyter.magics import SUBCOMMANDS


class KnownNames:
    """See `hermes_jupyter.completion.Known`."""

    def __init__(self, magics: Any) -> None:
        self._magics = magics
        self._options: dict[str, Sequence[str] | None] = {}

    def variables(self) -> Iterable[str]:
        shell = self._magics.shell
        hidden = shell.user_ns_hidden
        return [
            name
            for name, value in dict(shell.user_ns).items()
            if not name.startswith("_") and not (name in hidden and hidden[name] is value)
        ]

    def tools(self) -> Iterable[str]:
        from tools.registry import registry
        from tools.toolsets import TOOLSETS

        own = {name for toolset in TOOLSETS.values() for name in toolset.tools}
        return own.union(registry.get_all_tool_names())

    def toolsets(self) -> Iterable[str]:
        from tools.toolsets import toolset_names

        return toolset_names()

    def sessions(self) -> Iterable[str]:
        if "hermes_jupyter.api" not in sys.modules:  # nobody has begun one
            return ()
        return [session.name for session in self._magics.desktop.hermes.sessions()]

    def terminals(self) -> Iterable[str]:
        from tools.environments.backends import backends

        return backends()

    def commands(self) -> Iterable[str]:
        return (*SUBCOMMANDS, "call")

    def options(self) -> Mapping[str, Sequence[str] | None]:
        from hermes_jupyter.settings_file import APPROVAL_MODES

        if not self._options:
            for action in type(self._magics).agent.parser._actions:
                takes = action.nargs != 0
                choices = APPROVAL_MODES if action.dest == "approve" else action.choices or ()
                for name in action.option_strings:
                    self._options[name] = tuple(choices) if takes else None
        return self._options
