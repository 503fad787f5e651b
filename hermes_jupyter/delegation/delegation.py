"""Has children work on tasks, a few at a time, and tells what came of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.delegation.child import Asked, ChildRun
from hermes_jupyter.delegation.lent import Lent
from hermes_jupyter.delegation.orders import Task, order_for
from hermes_jupyter.delegation.waiting import Cancelled, done_or_halted
from hermes_jupyter.events import ChildrenPlanned
from hermes_jupyter.road.ceilings import ceilings

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes

LEAST_SUMMARY = 1_000
REPORT_TOKENS = 1_000
"""What a report takes to read, about."""


class Delegation:
    """Of one turn. Its children share the room, however many calls give them work."""

    def __init__(self, hermes: Hermes, lent: Lent) -> None:
        self._hermes, self._lent = hermes, lent
        self._chosen = lent.settings.delegation
        self._room = asyncio.Semaphore(self._chosen.max_concurrent_children)
        self._at_work: set[asyncio.Task[None]] = set()

    async def run(
        self,
        tasks: Sequence[Task],
        *,
        call_id: str,
        cancelled: Cancelled,
        say: Callable[[str], None],
    ) -> list[dict[str, Any]]:
        """Have each task done by a child; a report on each, in their order.

        Parameters
        ----------
        cancelled
            Ends all of them; what they have done until then is reported.
        say
            Told a line whenever one begins or ends.

        Raises
        ------
        ValueError
            If a task cannot be given to a child; then none is begun. For the model.
        """
        depth = self._chosen.max_spawn_depth
        if self._lent.depth >= depth:
            raise ValueError(
                f"agents have agents down to a depth of {depth} here; do this task yourself"
            )
        limit = self._summary_chars(len(tasks))
        orders = [order_for(number, task, self._lent) for number, task in enumerate(tasks, 1)]
        asked = Asked(call_id=call_id, say=say)
        children = [ChildRun(self._hermes, self._lent, order, asked) for order in orders]
        self._lent.emit(ChildrenPlanned(call_id=call_id, number=len(children)))
        with self._lent.spending.keeping(REPORT_TOKENS * len(children)):
            work = [self._begin(child) for child in children]
            await done_or_halted(work, cancelled)
        return [child.report(limit) for child in children]

    def _begin(self, child: ChildRun) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(child.run(self._room, self._model))
        self._at_work.add(task)  # one that takes long to end must not be forgotten meanwhile
        task.add_done_callback(self._at_work.discard)
        return task

    def _model(self) -> Model:
        choice = self._chosen.model
        if choice is None:
            return self._lent.model()
        return self._hermes.chosen_model(choice, self._lent.settings)

    def _summary_chars(self, number: int) -> int:
        """So much of each answer that all of them fit into one result."""
        room = ceilings(self._lent.model().window).result // number
        return min(self._chosen.max_summary_chars, max(LEAST_SUMMARY, room))
