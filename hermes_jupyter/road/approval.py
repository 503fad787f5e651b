"""The approval desk: questions that wait for a person, and the answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hermes_jupyter.calls import ApprovalRequest, Decision, Question
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    QuestionAnswered,
    QuestionAsked,
)

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Answer(Generic[A]):
    """An answer, and who gave it: ``widget``, ``input``, ``policy``, ``interrupt``."""

    value: A
    by: str


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[A]):
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Answer[A]]
    digest: str = ""


class ApprovalDesk:
    """One per session. The first answer to a request counts; later ones learn that it is closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._approvals: dict[str, _Waiting[Decision]] = {}
        self._questions: dict[str, _Waiting[str | None]] = {}
        self._grants: set[str] = set()

    def granted(self, digest: str) -> bool:
        """Was this exact call allowed for the session?"""
        return digest in self._grants

    async def decide(
        self, request: ApprovalRequest, emit: Callable[[Event], None]
    ) -> Answer[Decision]:
        """Announce the request and wait for the first answer.

        Raises
        ------
        asyncio.CancelledError
            When the turn is interrupted; listeners hear that it was denied.
        """
        waiting = _open(self._approvals, request.id, self._lock, request.digest)
        emit(ApprovalRequested(request=request))
        answer: Answer[Decision] = Answer("deny", "interrupt")
        try:
            answer = await waiting.answer
        finally:
            self._drop(self._approvals, request.id)
            emit(ApprovalResolved(request=request, decision=answer.value, by=answer.by))
        if answer.value == "session":
            self._grants.add(request.digest)
        return answer

    async def ask(self, question: Question, emit: Callable[[Event], None]) -> str | None:
        """Ask a person something; None if nobody can be asked."""
        waiting = _open(self._questions, question.id, self._lock)
        emit(QuestionAsked(question=question))
        answer: Answer[str | None] = Answer(None, "interrupt")
        try:
            answer = await waiting.answer
        finally:
            self._drop(self._questions, question.id)
            emit(QuestionAnswered(question=question, answer=answer.value, by=answer.by))
        return answer.value

    def answer(self, request_id: str, decision: Decision, *, by: str, digest: str) -> bool:
        """Answer an approval request. Any thread.

        Parameters
        ----------
        digest
            Fingerprint of what the person saw; an answer to anything else does not count.

        Returns
        -------
        bool
            False if the request is closed, or is not the one that was shown.
        """
        with self._lock:
            waiting = self._approvals.get(request_id)
            if waiting is None or waiting.digest != digest:
                return False
            del self._approvals[request_id]
        _settle(waiting, Answer(decision, by))
        return True

    def reply(self, question_id: str, text: str | None, *, by: str) -> bool:
        """Answer a question. Any thread. False if it is closed."""
        with self._lock:
            waiting = self._questions.pop(question_id, None)
        if waiting is None:
            return False
        _settle(waiting, Answer(text, by))
        return True

    def _drop(self, table: dict[str, _Waiting[A]], key: str) -> None:
        with self._lock:
            table.pop(key, None)


def _open(
    table: dict[str, _Waiting[A]], key: str, lock: threading.Lock, digest: str = ""
) -> _Waiting[A]:
    loop = asyncio.get_running_loop()
    waiting: _Waiting[A] = _Waiting(loop, loop.create_future(), digest)
    with lock:
        table[key] = waiting
    return waiting


def _settle(waiting: _Waiting[A], answer: Answer[A]) -> None:
    def set_once() -> None:
        if not waiting.answer.done():
            waiting.answer.set_result(answer)

    waiting.loop.call_soon_threadsafe(set_once)
