"""What one turn tells its model of the cells above."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_jupyter.notebook.cells import SeenCell
from hermes_jupyter.notebook.shown_images import images_of
from hermes_jupyter.notebook.telling import limit_for, told
from tools.async_bridge import in_tool_thread
from tools.images.picture import Picture

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

    async def told(
        self, window: int, *, sees: bool = False
    ) -> tuple[str, list[tuple[str, Picture]]]:
        """What comes before the prompt, for a window of so many tokens: text, and images.

        Parameters
        ----------
        sees
            Whether the model takes images.
        """
        above, limit = self._above, limit_for(window, self._share)
        if above is None or not limit:
            return "", []
        self._now = dict(self._known)

        def look() -> tuple[str, list[tuple[str, Picture]]]:
            new = told(above(), self._now, limit)
            return self._clean(new.text), images_of(new.cells) if sees else []

        return await in_tool_thread(look)

    def were_read(self) -> None:
        """The model has read it: it is not told so again."""
        self._known.update(self._now)
