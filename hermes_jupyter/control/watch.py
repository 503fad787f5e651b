"""Follows the turns of a kernel, so that what waits and what runs can be told at any moment."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from hermes_jupyter.calls import ApprovalRequest, Question, Usage
from hermes_jupyter.control.showing import (
    Shown,
    Where,
    question_shown,
    reply_shown,
    request_shown,
    ruling_shown,
)
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    ChildTold,
    Event,
    ModelCalled,
    QuestionAnswered,
    QuestionAsked,
    StepFinished,
    StepStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.views.base import Desk
from hermes_jupyter.views.sanitize import one_line

REMEMBERED = 256
"""Answers that are kept, to tell those who come late what they were."""
TITLE_CHARS = 200
UNANSWERED = frozenset({"interrupt", "timeout"})


class Talked(Protocol):
    """What may be done with a session from elsewhere; callable from any thread."""

    @property
    def name(self) -> str: ...

    @property
    def desk(self) -> Desk: ...

    @property
    def mailbox(self) -> Any: ...

    def stop(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that a person is asked, as it was shown."""

    about: ApprovalRequest | Question
    shown: Shown
    turn: WatchedTurn

    @property
    def digest(self) -> bytes:
        """Of what was shown; an answer must bring it back."""
        return str(self.shown["digest"]).encode("ascii")


class Watch:
    """Of one kernel. Safe to use from any thread.

    Parameters
    ----------
    tell
        Tells the kernel's clients of an event.
    """

    def __init__(self, tell: Callable[..., None], clock: Callable[[], float] = time.time) -> None:
        self._tell, self._clock = tell, clock
        self._lock = threading.Lock()  # guards the tables
        self._turns: dict[int, WatchedTurn] = {}
        self._waiting: dict[str, Waiting] = {}
        self._answered: OrderedDict[str, Shown] = OrderedDict()

    def listener(self, session: Talked, cell: str, *, is_attended: bool = True) -> WatchedTurn:
        """A listener for one turn; `WatchedTurn.close` it in the end.

        ``is_attended``: may a person answer? Else its requests are nobody's business.
        """
        return WatchedTurn(self, session, cell, is_attended=is_attended)

    def turns(self) -> list[WatchedTurn]:
        """Those that run, in the order of their start."""
        with self._lock:
            return [*self._turns.values()]

    def waiting(self) -> list[Waiting]:
        """What waits for a person, in the order in which it was asked."""
        with self._lock:
            return [*self._waiting.values()]

    def find(self, name: str) -> Waiting | None:
        """What waits under this id."""
        with self._lock:
            return self._waiting.get(name)

    def answer_to(self, name: str) -> Shown | None:
        """How it was answered, if that was lately."""
        with self._lock:
            return self._answered.get(name)

    # Of `WatchedTurn`

    def begin(self, turn: WatchedTurn) -> None:
        with self._lock:
            self._turns[id(turn)] = turn
        self.changed(turn)

    def changed(self, turn: WatchedTurn) -> None:
        self._tell("turn", turn=turn.shown())

    def end(self, turn: WatchedTurn) -> None:
        with self._lock:
            ended = self._turns.pop(id(turn), None)
            left = [each for each in self._waiting.values() if each.turn is turn]
        for each in left:  # nobody told how it ended
            self.close(each.about.id, {"decision": "deny", "by": "interrupt", "said": ""})
        if ended is not None:
            self.changed(turn)

    def open(self, waiting: Waiting) -> None:
        with self._lock:
            self._waiting[waiting.about.id] = waiting
        self._tell("asked", **{_kind(waiting): waiting.shown})

    def close(self, name: str, outcome: Shown) -> None:
        with self._lock:
            waiting = self._waiting.pop(name, None)
            if waiting is None:
                return
            self._answered[name] = outcome
            while len(self._answered) > REMEMBERED:
                self._answered.popitem(last=False)
        about = {"id": name, "turn": waiting.shown["turn"], "outcome": outcome}
        self._tell("answered", **{_kind(waiting): about})

    def now(self) -> float:
        return self._clock()


class WatchedTurn:
    """One turn, as far as others are told. Hears on the agent loop; may be read in any thread."""

    def __init__(self, watch: Watch, session: Talked, cell: str, *, is_attended: bool) -> None:
        self._watch, self.session, self._cell = watch, session, cell
        self._is_attended = is_attended
        self.id = ""
        self._started: TurnStarted | None = None
        self._started_at = 0.0
        self._ended = ""
        self._steps = 0
        self._usage = Usage()
        self._open = 0

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._started, self.id = event, event.turn
                self._started_at = self._watch.now()
                self._watch.begin(self)
            case ApprovalRequested(request=request) if self._is_attended:
                shown = request_shown(request, self._where, self._watch.now())
                self._ask(Waiting(request, shown, self))
            case QuestionAsked(question=question) if self._is_attended:
                shown = question_shown(question, self._where, self._watch.now())
                self._ask(Waiting(question, shown, self))
            case ApprovalResolved(request=request):
                self._answer(request.id, ruling_shown(event))
            case QuestionAnswered(question=question):
                self._answer(question.id, reply_shown(event))
            case ModelCalled(usage=usage) | ChildTold(event=ModelCalled(usage=usage)):
                self._usage += usage
            case StepStarted(number=number):
                self._steps = number
                self._watch.changed(self)
            case StepFinished():
                self._watch.changed(self)
            case TurnFinished(status=status, usage=usage, steps=steps):
                self._usage, self._steps, self._ended = usage, steps, status
                self.close()

    def close(self) -> None:
        """It has ended, whether or not it could say so."""
        self._ended = self._ended or "interrupted"
        self._watch.end(self)

    def shown(self) -> Shown:
        """The turn, for people elsewhere."""
        started = self._started
        return {
            "turn": self.id,
            "session": one_line(self.session.name, 120),
            "cell": self._cell,
            "state": self._ended or ("asking" if self._open else "working"),
            "title": one_line(redact(started.prompt[: 4 * TITLE_CHARS]), TITLE_CHARS)
            if started
            else "",
            "model": one_line(started.model, 120) if started else "",
            "steps": self._steps,
            "max_steps": started.steps if started else 0,
            "tokens": self._usage.tokens,
            "cost": self._usage.cost,
            "unpriced_calls": self._usage.unpriced_calls,
            "started_at": self._started_at,
        }

    @property
    def _where(self) -> Where:
        return Where(self.id, one_line(self.session.name, 120), self._cell)

    def _ask(self, waiting: Waiting) -> None:
        self._open += 1
        self._watch.open(waiting)
        self._watch.changed(self)

    def _answer(self, name: str, outcome: Shown) -> None:
        if self._watch.find(name) is None:  # decided without asking anybody
            return
        self._open -= 1
        self._watch.close(name, outcome)
        self._watch.changed(self)


def _kind(waiting: Waiting) -> str:
    return "request" if isinstance(waiting.about, ApprovalRequest) else "question"
