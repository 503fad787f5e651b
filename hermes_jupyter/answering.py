"""Approvals that a program gives: a function of the caller in the place of a person."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_args

from hermes_jupyter.calls import ApprovalRequest, Decision, Ruling
from hermes_jupyter.events import ApprovalRequested, Event, QuestionAsked, TurnFinished
from hermes_jupyter.views.base import Desk
from tools.async_bridge import in_tool_thread

logger = logging.getLogger(__name__)

Answer = Ruling | Decision | bool | None
Approve = Callable[[ApprovalRequest], Answer | Awaitable[Answer]]
"""Says whether a call may run: True for once, a decision such as ``"session"``, or a `Ruling`."""

DECISIONS: tuple[str, ...] = get_args(Decision)
ANSWERS: Mapping[Any, Ruling] = {
    True: Ruling(decision="once"),
    False: Ruling(decision="deny"),
    None: Ruling(decision="deny"),
}


class Programmed:
    """A function of the caller decides; questions of the model stay without an answer.

    Parameters
    ----------
    loop
        Where it runs if it is a coroutine function; None: on the agent's own loop. Any other
        function is called in a thread.
    """

    nobody_answers = False

    def __init__(
        self, approve: Approve, desk: Desk, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self._approve, self._desk, self._loop = approve, desk, loop
        self._deciding: set[asyncio.Task[None]] = set()

    def __call__(self, event: Event) -> None:
        match event:
            case ApprovalRequested(request=request):
                task = asyncio.get_running_loop().create_task(self._decide(request))
                self._deciding.add(task)
                task.add_done_callback(self._deciding.discard)
            case QuestionAsked(question=question):
                self._desk.reply(question.id, None, by="policy")
            case TurnFinished():
                for task in self._deciding:
                    task.cancel()

    def show_again(self, parent: dict[str, Any] | None) -> None:
        """There is nothing to show."""

    async def _decide(self, request: ApprovalRequest) -> None:
        try:
            ruling, by = _ruling(await self._asked(request)), "program"
        except Exception:  # fail closed: a broken answer is no permission
            logger.exception("approve() failed on %r", request.call.name)
            ruling, by = ANSWERS[False], "policy"
        if not self._desk.answer(request.id, ruling, by=by, digest=request.digest):
            # Not offered for this call ("always" for what is risky), or closed meanwhile.
            self._desk.answer(request.id, ANSWERS[False], by="policy", digest=request.digest)

    async def _asked(self, request: ApprovalRequest) -> Any:
        if inspect.iscoroutinefunction(self._approve):
            return await self._awaited(self._approve(request))
        said = await in_tool_thread(lambda: self._approve(request))
        return await self._awaited(said) if inspect.iscoroutine(said) else said

    async def _awaited(self, coroutine: Any) -> Any:
        if self._loop is None or self._loop is asyncio.get_running_loop():
            return await coroutine
        there = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return await asyncio.wrap_future(there)


def _ruling(said: Any) -> Ruling:
    """What an answer means.

    Raises
    ------
    TypeError
        If it means nothing.
    """
    if isinstance(said, Ruling):
        return said
    if isinstance(said, str) and said in DECISIONS:
        return Ruling(decision=said)  # type: ignore[arg-type]
    if said is None or isinstance(said, bool):
        return ANSWERS[said]
    raise TypeError(
        f"approve() returned {said!r}; it says True, False, one of {', '.join(DECISIONS)}, or a "
        "Ruling"
    )
