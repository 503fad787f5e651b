"""One child, from its order to what the parent reads of it."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hermes_jupyter.agent.models.base import Model
from hermes_jupyter.calls import Child, ChildStatus, Usage
from hermes_jupyter.delegation.lent import Lent
from hermes_jupyter.delegation.notes import Notes
from hermes_jupyter.delegation.orders import Order
from hermes_jupyter.delegation.sessions import ChildSession
from hermes_jupyter.delegation.turn import ChildTurn
from hermes_jupyter.errors import HermesError
from hermes_jupyter.events import ChildFinished, ChildStarted, ChildTold, Event
from hermes_jupyter.redaction import redact
from hermes_jupyter.road.pages import READER
from hermes_jupyter.road.results import shaped_here
from hermes_jupyter.settings import Settings
from hermes_jupyter.text import mended
from hermes_jupyter.turn_values import TurnResult
from tools.async_bridge import in_tool_thread
from tools.environments.host import HostError

if TYPE_CHECKING:
    from hermes_jupyter.hermes import Hermes

logger = logging.getLogger(__name__)

GOAL_CHARS = 200
NAME_CHARS = 40
TOLD_CHARS = 4_000
"""Of its answer, in the event that says that it has ended."""
LINE_CHARS = 600
STOPPED = "stopped by the user"
INTERRUPTED = "interrupted by the user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a child has ended."""

    status: ChildStatus
    why: str
    """For programs: ``completed max_iterations stopped interrupted error``."""
    reason: str = ""
    """For people, unless it is done."""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The call that asks for children."""

    call_id: str
    say: Callable[[str], None]
    """Told a line whenever one begins or ends, so that a crash leaves a trace of them."""


class ChildRun:
    """Runs one child. What it did can be told at any moment, however it ends."""

    def __init__(self, hermes: Hermes, lent: Lent, order: Order, asked: Asked) -> None:
        self._hermes, self._lent, self.order, self._asked = hermes, lent, order, asked
        line = " ".join(redact(mended(order.goal[: 4 * GOAL_CHARS])).split())
        name, goal = _cut(f"{order.number}: {line}", NAME_CHARS), _cut(line, GOAL_CHARS)
        self.child = Child(id=secrets.token_hex(4), number=order.number, name=name, goal=goal)
        self._notes = Notes()
        self._session: ChildSession | None = None
        self._began = self._ended = 0.0
        self._ending: Ending | None = None
        self._is_stopped = False

    async def run(self, room: asyncio.Semaphore, model: Callable[[], Model]) -> None:
        """Work, once there is room. Does not raise: how it went is in `ending`."""
        try:
            async with room:
                self._began = time.monotonic()
                await self._work(model())
        except asyncio.CancelledError:
            self.end(Ending(status="interrupted", why="interrupted", reason=self._who()))
        except (HermesError, HostError) as error:
            self.end(Ending(status="error", why="error", reason=str(error)))
        except Exception as error:  # the others go on, and the parent hears of it
            logger.exception("a child failed")
            reason = f"{type(error).__name__}: {error}"
            self.end(Ending(status="error", why="error", reason=reason))

    def end(self, ending: Ending) -> None:
        """Say how it ended, once; nothing more is told of it then."""
        if self._ending is not None:
            return
        self._ended = time.monotonic()
        self._ending = ending
        self._asked.say(f"{self._told(ending)}\n")
        text = redact(ending.text or self._notes.so_far())  # before a cut can go through a secret
        self._lent.emit(
            ChildFinished(
                call_id=self._asked.call_id,
                child=replace(self.child, model=self._notes.model),
                status=ending.status,
                text=_cut(text, TOLD_CHARS),
                reason=ending.reason,
                steps=self._notes.steps,
                seconds=self._seconds,
                usage=self._notes.usage,
            )
        )

    def report(self, summary_chars: int) -> dict[str, Any]:
        """What the parent reads of it, also if it is still about to end."""
        self.end(Ending(status="interrupted", why="interrupted", reason=self._who()))
        ending, notes = self._ending, self._notes
        assert ending is not None
        usage, files = notes.usage, self._session.written.paths if self._session else []
        more = notes.calls - len(notes.trace)
        return {
            "task_index": self.order.number - 1,
            "status": ending.status,
            "summary": self._summary(ending.text or notes.so_far(), summary_chars),
            "api_calls": usage.model_calls,
            "duration_seconds": round(self._seconds, 2),
            "model": notes.model,
            "exit_reason": ending.why,
            "tokens": {"input": usage.prompt_tokens, "output": usage.completion_tokens},
            **({"cost_usd": round(usage.cost, 6)} if usage.cost else {}),
            "tool_trace": notes.trace,
            **({"earlier_calls": more} if more else {}),
            **({"files_written": files} if files else {}),
            **({"error": ending.reason} if ending.reason else {}),
            **({"session_id": self.child.session_id} if self.child.session_id else {}),
        }

    async def _work(self, model: Model) -> None:
        lent = self._lent
        session = await in_tool_thread(self._open)
        self._session = session
        steps = self._settings.max_steps
        self.child = replace(self.child, model=model.name, steps=steps, session_id=session.id)
        self._asked.say(f"{self.child.name}: begins, session {session.id}\n")
        began = ChildStarted(call_id=self._asked.call_id, child=self.child, at=self._began)
        lent.emit(began)
        try:
            with lent.spending.part() as spending, self._stoppable(), session.occupied():
                turn = ChildTurn(
                    self._hermes,
                    session,
                    self._hear,
                    replace(lent, count=self._count),
                    settings=self._settings,
                    model=model,
                    tools=self.order.tools,
                    spending=spending,
                )
                self._finish(await turn.run(self.order.prompt))
        finally:
            await self._close(session)

    @property
    def _settings(self) -> Settings:
        """The parent's, with the number of a child's steps."""
        settings = self._lent.settings
        return replace(settings, max_steps=settings.delegation.max_iterations)

    def _open(self) -> ChildSession:
        lent, stored = self._lent, self._hermes.conversations.stored
        about = {"name": self.child.name, "identity": self.child.id}
        return ChildSession(lent.session, stored, lent.settings, **about)

    async def _close(self, session: ChildSession) -> None:
        """End its shell, also if nobody waits for that."""
        closing = asyncio.ensure_future(in_tool_thread(session.close))
        closing.add_done_callback(_log_failure)
        await asyncio.shield(closing)

    def _finish(self, result: TurnResult) -> None:
        if result.status == "done":
            self.end(Ending(status="completed", why="completed", text=result.text))
            return
        why = "max_iterations" if result.steps >= self._settings.max_steps else "stopped"
        self.end(Ending(status="failed", why=why, reason=result.reason, text=result.text))

    def _hear(self, event: Event) -> None:
        """Its events: noted, and told to those who watch the parent."""
        self._notes.hear(event)
        if self._ending is None:
            self._lent.emit(ChildTold(child=self.child.id, event=event))

    def _count(self, model: str, usage: Usage, seconds: float, purpose: str = "child") -> None:
        self._notes.usage += usage
        self._lent.count(model, usage, seconds, purpose)

    def _stoppable(self) -> AbstractContextManager[None]:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def stop() -> None:
            self._is_stopped = True
            loop.call_soon_threadsafe(task.cancel)

        return self._lent.session.desk.stoppable(self.child.id, stop)

    def _summary(self, text: str, limit: int) -> str:
        lent = self._lent
        keeper = lent.session.handles if READER in lent.tools.names else None
        return shaped_here(text, limit, keeper).text

    def _told(self, ending: Ending) -> str:
        """One line on how it went."""
        said = " ".join(redact(ending.text or self._notes.so_far() or ending.reason).split())
        return f"{self.child.name}: {ending.status}: {_cut(said, LINE_CHARS)}"

    def _who(self) -> str:
        return STOPPED if self._is_stopped else INTERRUPTED

    @property
    def _seconds(self) -> float:
        return (self._ended or time.monotonic()) - self._began if self._began else 0.0


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _log_failure(closing: asyncio.Future[None]) -> None:
    if not closing.cancelled() and (error := closing.exception()):
        logger.warning("the session of a child could not be closed", exc_info=error)
