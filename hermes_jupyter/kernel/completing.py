"""Has IPython ask us for completions: in its terminal, and for every front end of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Found(Protocol):
    """What may stand at the cursor."""

    @property
    def fragment(self) -> str: ...
    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def kind(self) -> str: ...


class Matcher:
    """One of IPython's matchers (version 2 of their interface).

    Parameters
    ----------
    suggest
        Gets the text of the cell as far as the cursor.
    """

    matcher_api_version = 2
    matcher_priority = 0.0
    matcher_identifier = "hermes_jupyter"

    def __init__(self, suggest: Callable[[str], Found | None]) -> None:
        self._suggest = suggest
        self.__qualname__ = self.matcher_identifier

    def __call__(self, context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line + 1]
        before = "\n".join([*lines[:-1], lines[-1][: context.cursor_position]])
        found = self._suggest(before) if "%" in before else None
        if found is None:
            return {"completions": []}  # IPython writes into what it gets
        from IPython.core.completer import SimpleCompletion  # loaded already, where this runs

        return {
            "completions": [SimpleCompletion(text, type=found.kind) for text in found.texts],
            "matched_fragment": found.fragment,
            "suppress": True,
        }


def begin(shell: Any, suggest: Callable[[str], Found | None]) -> None:
    """Offer this from now on, before all else."""
    end(shell)
    shell.Completer.custom_matchers.insert(0, Matcher(suggest))


def end(shell: Any) -> None:
    """Offer nothing any more."""
    matchers = shell.Completer.custom_matchers
    # By name: %reload_ext has made another class.
    name = Matcher.matcher_identifier
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", "") != name]
