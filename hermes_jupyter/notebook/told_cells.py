"""What one turn tells its model of the cells above."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_jupyter.notebook.cells import SeenCell
from hermes_jupyter.notebook.telling import limit_for, told
from tools.async_bridge import in_tool_thread

READS_CELLS = (
    "the model reads the cells above, too (--no-context: it does not; "
    "%config Hermes.context = 0: never)"
)


class ToldCells:
    """Of one turn.

    Parameters
    ----------
    above
        Looks at the cells; None where there are none.
    known
        What the session's model has been told, by the keys of cells.
    share
        Percent of the model's window that it may take.
    clean
        Masks secrets.
    """

    def __init__(
        self,
        above: Callable[[], Sequence[SeenCell]] | None,
        known: dict[str, str],
        share: float,
        clean: Callable[[str], str],
    ) -> None:
        self._above, self._known, self._share, self._clean = above, known, share, clean
        self._now = known

    async def told(self, window: int) -> str:
        """The text before the prompt, for a window of so many tokens; may be empty."""
        above, limit = self._above, limit_for(window, self._share)
        if above is None or not limit:
            return ""
        self._now = dict(self._known)
        return self._clean(await in_tool_thread(lambda: told(above(), self._now, limit)))

    def were_read(self) -> None:
        """The model has read it: it is not told so again."""
        self._known.update(self._now)
