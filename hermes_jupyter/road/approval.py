"""The approval desk: questions that wait for a person, and the answers.

Nobody reads standard input here: threads and children queue, and whoever shows the questions
answers them. Who shows an agent may also stop it here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from hermes_jupyter.calls import ApprovalRequest, Decision, Question, Ruling
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
)
from hermes_jupyter.road.denials import Denials
from hermes_jupyter.road.grants import Grants

A = TypeVar("A")
Emit = Callable[[Event], None]
DENIED = Ruling(decision="deny")
HIDDEN = "(hidden)"
"""What events say instead of a password."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[A]):
    """An answer, and who gave it.

    ``widget``, ``input``, ``message``; ``policy`` where nobody can be asked; ``timeout`` where
    nobody has answered; ``interrupt`` if the turn was.
    """

    value: A
    by: str


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[A]):
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Answer[A]]
    request: ApprovalRequest | None = None


@dataclass(frozen=True, slots=True)
class _Audience:
    """Who hears of requests while a turn runs, and on which loop."""

    loop: asyncio.AbstractEventLoop
    emit: Emit

    def tell(self, event: Event) -> None:
        if _running_loop() is self.loop:
            self.emit(event)
        elif not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.emit, event)


class ApprovalDesk:
    """One per session. The first answer to a request counts; later ones learn that it is closed.

    Parameters
    ----------
    grants
        What was allowed for longer than once; of this session alone if None.
    """

    def __init__(self, grants: Grants | None = None) -> None:
        self._lock = threading.Lock()  # guards the tables
        self._approvals: dict[str, _Waiting[Ruling]] = {}
        self._questions: dict[str, _Waiting[str | None]] = {}
        self._audience: _Audience | None = None
        self._stops: dict[str, Callable[[], None]] = {}
        self.grants = grants or Grants()
        self.denials = Denials()

    @contextmanager
    def turn(self, emit: Emit) -> Iterator[None]:
        """A turn: what is refused in it stays refused until its end, and then nothing waits."""
        self.denials = Denials()
        self._audience = _Audience(asyncio.get_running_loop(), emit)
        try:
            yield
        finally:
            self._audience = None
            self.release()

    def child(self, name: str, identity: str = "") -> ChildDesk:
        """The desk of an agent that works for this session's: its requests appear here."""
        return ChildDesk(self, name, identity)

    @contextmanager
    def stoppable(self, child: str, stop: Callable[[], None]) -> Iterator[None]:
        """In the block, a person may stop the child with this id."""
        with self._lock:
            self._stops[child] = stop
        try:
            yield
        finally:
            with self._lock:
                del self._stops[child]

    def stop(self, child: str) -> bool:
        """Have a person stop a child. Any thread. False if it has ended."""
        with self._lock:
            stop = self._stops.get(child)
        if stop is not None:
            stop()
        return stop is not None

    async def decide(
        self, request: ApprovalRequest, emit: Emit, *, within: float = 0.0
    ) -> Answer[Ruling]:
        """Announce the request and wait for the first answer.

        Parameters
        ----------
        within
            Seconds after which silence counts as a no; 0 waits for ever.

        Raises
        ------
        asyncio.CancelledError
            When the turn is interrupted; listeners hear that it was denied.
        """
        waiting = _open(self._approvals, request.id, self._lock, request)
        answer: Answer[Ruling] = Answer(DENIED, "interrupt")
        try:
            emit(ApprovalRequested(request=request))
            async with asyncio.timeout(within or None):
                answer = await waiting.answer
        except TimeoutError:
            answer = Answer(DENIED, "timeout")
        finally:
            self._drop(self._approvals, request.id)
            emit(_resolved(request, answer))
        return answer

    async def ask(self, question: Question, emit: Emit) -> str | None:
        """Ask a person something; None if nobody can be asked."""
        waiting = _open(self._questions, question.id, self._lock)
        answer: Answer[str | None] = Answer(None, "interrupt")
        try:
            emit(QuestionAsked(question=question))
            answer = await waiting.answer
        finally:
            self._drop(self._questions, question.id)
            said = HIDDEN if question.secret and answer.value else answer.value
            emit(QuestionAnswered(question=question, answer=said, by=answer.by))
        return answer.value

    def answer(self, request_id: str, ruling: Ruling | Decision, *, by: str, digest: str) -> bool:
        """Answer an approval request. Any thread.

        Parameters
        ----------
        ruling
            With "always", the rule that the request shows is kept; with an edit, that text runs,
            once.
        digest
            Fingerprint of what the person saw; an answer to anything else does not count.

        Returns
        -------
        bool
            False if the request is closed, is not the one that was shown, or did not offer this.
        """
        given = ruling if isinstance(ruling, Ruling) else Ruling(decision=ruling)
        with self._lock:
            waiting = self._approvals.get(request_id)
            if waiting is None or not _is_offered(given, digest, waiting.request):
                return False
            del self._approvals[request_id]
        return _settle(waiting, Answer(given, by))

    def reply(self, question_id: str, text: str | None, *, by: str) -> bool:
        """Answer a question. Any thread. False if it is closed."""
        with self._lock:
            waiting = self._questions.pop(question_id, None)
        return waiting is not None and _settle(waiting, Answer(text, by))

    def release(self) -> None:
        """Deny what still waits: nobody will come back to it. Any thread."""
        with self._lock:
            approvals, questions = [*self._approvals.values()], [*self._questions.values()]
            self._approvals.clear()
            self._questions.clear()
        for approval in approvals:
            _settle(approval, Answer(DENIED, "interrupt"))
        unanswered: Answer[str | None] = Answer(None, "interrupt")
        for question in questions:
            _settle(question, unanswered)

    @property
    def audience(self) -> Emit | None:
        """Tells those who watch this session, from any thread; None while nobody does."""
        return self._audience.tell if self._audience else None

    def _drop(self, table: dict[str, _Waiting[A]], key: str) -> None:
        with self._lock:
            table.pop(key, None)


class ChildDesk:
    """The desk of a child: the same queue, grants and refusals as its parent's."""

    def __init__(self, parent: ApprovalDesk | ChildDesk, name: str, identity: str = "") -> None:
        self._parent, self._name, self._identity = parent, name, identity or name

    @property
    def grants(self) -> Grants:
        return self._parent.grants

    @property
    def denials(self) -> Denials:
        return self._parent.denials

    @property
    def audience(self) -> Emit | None:
        return self._parent.audience

    def child(self, name: str, identity: str = "") -> ChildDesk:
        return ChildDesk(self, name, identity)

    @contextmanager
    def turn(self, _emit: Emit) -> Iterator[None]:
        """A part of the parent's turn: what is refused stays refused until that ends."""
        yield

    def release(self) -> None:
        """What waits is the parent's."""

    def stoppable(self, child: str, stop: Callable[[], None]) -> AbstractContextManager[None]:
        return self._parent.stoppable(child, stop)

    def stop(self, child: str) -> bool:
        return self._parent.stop(child)

    def answer(self, request_id: str, ruling: Ruling | Decision, *, by: str, digest: str) -> bool:
        return self._parent.answer(request_id, ruling, by=by, digest=digest)

    def reply(self, question_id: str, text: str | None, *, by: str) -> bool:
        return self._parent.reply(question_id, text, by=by)

    async def decide(
        self, request: ApprovalRequest, emit: Emit, *, within: float = 0.0
    ) -> Answer[Ruling]:
        """Ask those who watch the parent. Where nobody does, the answer is no.

        ``emit`` hears of it, too, as of a request like any other: for the child's own record.
        """
        asker = f"{self._name} › {request.asker}" if request.asker else self._name
        asked = replace(request, asker=asker, path=(self._identity, *request.path))
        if isinstance(self._parent, ChildDesk):
            return await self._parent.decide(asked, emit, within=within)
        audience = self.audience
        if audience is None:
            answer = Answer(DENIED, "policy")
            emit(_resolved(_own(asked), answer))
            return answer

        def tell(event: Event) -> None:
            if isinstance(event, ApprovalRequested | ApprovalResolved):
                emit(replace(event, request=_own(event.request)))
            audience(event)

        return await self._parent.decide(asked, tell, within=within)

    async def ask(self, question: Question, emit: Emit) -> str | None:
        """Ask them a question, such as for a password, and say who asks."""
        audience = self.audience
        if audience is None:
            return None
        named = f"{self._name} asks: {question.text}"
        return await self._parent.ask(replace(question, text=named), audience)


AskingDesk = ApprovalDesk | ChildDesk


def _own(request: ApprovalRequest) -> ApprovalRequest:
    """A child's request, as the child itself knows it."""
    return replace(request, asker="", path=())


def _is_offered(ruling: Ruling, digest: str, request: ApprovalRequest | None) -> bool:
    if request is None or request.digest != digest:
        return False
    if ruling.decision == "always" and not request.rule:
        return False
    return ruling.edited is None or bool(request.editable) or ruling.decision == "deny"


def _resolved(request: ApprovalRequest, answer: Answer[Ruling]) -> ApprovalResolved:
    ruling = answer.value
    return ApprovalResolved(
        request=request,
        decision=ruling.decision,
        by=answer.by,
        note=ruling.note,
        edited=ruling.edited if ruling.decision != "deny" else None,
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _open(
    table: dict[str, _Waiting[A]],
    key: str,
    lock: threading.Lock,
    request: ApprovalRequest | None = None,
) -> _Waiting[A]:
    loop = asyncio.get_running_loop()
    waiting: _Waiting[A] = _Waiting(loop, loop.create_future(), request)
    with lock:
        table[key] = waiting
    return waiting


def _settle(waiting: _Waiting[A], answer: Answer[A]) -> bool:
    """Hand over an answer; False if the loop that waited for it is gone."""

    def set_once() -> None:
        if not waiting.answer.done():
            waiting.answer.set_result(answer)

    try:
        waiting.loop.call_soon_threadsafe(set_once)
    except RuntimeError:  # closed
        return False
    return True
