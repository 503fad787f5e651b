"""The gate: whether a call may run. All calls pass here, whatever way they would run in.

In this order: what nobody may approve, the user's rules that deny, plan mode, what was refused in
this turn, rules that ask, what was granted, rules that allow, the mode, a judge, a person.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from hermes_jupyter.calls import ApprovalRequest, Decision, Ruling, ToolCall
from hermes_jupyter.events import ApprovalResolved, Event, NoticeGiven
from hermes_jupyter.road import refusals
from hermes_jupyter.road.approval import Answer, AskingDesk
from hermes_jupyter.road.cases import Case, case_of
from hermes_jupyter.road.checks import Checks
from hermes_jupyter.road.guard import objection_of
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.requests import request_for
from tools.async_bridge import in_tool_thread
from tools.entry import ToolEntry
from tools.files.workspace import folder_of

logger = logging.getLogger(__name__)

MAX_QUESTIONS = 4
"""About one call, when each answer comes too late: what was shown has changed meanwhile."""
SECONDS_TO_READ = 0.02
"""Sooner no person answers, only what answers for all where there is none."""
MAX_SHOWN_CHARS = 100_000
"""More than this nobody reads, so nobody can agree to it."""


class Judge(Protocol):
    """May say that a request of medium risk needs no person. Failing means *ask*."""

    async def judge(self, request: ApprovalRequest) -> Literal["allow", "ask"]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What the gate says to a call."""

    refusal: str = ""
    """What the model is told if it may not run."""
    edited: ToolCall | None = None
    """What a person made of it; that has to pass instead."""
    note: str = ""
    """What a person says to the model."""


OPEN = Passage()


@dataclass(frozen=True, slots=True)
class _Matter:
    """A call that needs an answer: what is known of it and the question about it."""

    case: Case
    request: ApprovalRequest

    @property
    def exact(self) -> tuple[str, str]:
        """What an answer is about. Another one means that the answer came too late."""
        return self.request.shown, self.request.digest


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Of one turn."""

    desk: AskingDesk
    policy: Policy
    emit: Callable[[Event], None]
    context: Mapping[str, Any]
    judge: Judge | None = None
    purpose: Callable[[], str] = str
    """What the model has said just before its calls."""
    timeout: float = 0.0
    prepare: Callable[[ToolEntry, ToolCall], object] = lambda _entry, _call: None
    """Makes ready what a call needs, while a person is asked about it; in a tool thread."""
    checks: Checks = field(default_factory=Checks)
    """Who else looks at the calls."""
    is_quiet: bool = field(init=False)
    """Do only the tools' own guards look at calls? Then one of a tool without a guard needs no
    trip to a tool thread."""

    def __post_init__(self) -> None:
        watched = self.policy.watches_all or bool(self.checks)
        object.__setattr__(self, "is_quiet", not watched)

    def lets_all(self, entry: ToolEntry) -> bool:
        """Has nobody anything to say about calls of this tool?"""
        if entry.guard_fn is not None or self.policy.watches_all:
            return False
        return self.is_quiet or not self.checks.look_at(entry)

    async def passage(self, entry: ToolEntry, call: ToolCall, *, typed: bool = False) -> Passage:
        """Whether a call may run. ``typed`` by a person: then only what nobody may is refused."""
        agreed: tuple[str, str] | None = None
        note = ""
        for _ in range(MAX_QUESTIONS):
            # A guard may read files for seconds, and the loop must hear the interrupt meanwhile.
            matter = await in_tool_thread(lambda: self._matter(entry, call))
            if refusal := self._forbidden(matter):
                return Passage(refusal=refusal)
            if typed or matter.exact == agreed:
                return Passage(note=note)
            open_or_refused = self._settled(matter)
            if open_or_refused is not None:
                return open_or_refused
            # The folder or the file may change while the question stands there: then the answer
            # was to something else.
            answer = await self._answer(matter)
            if isinstance(answer, Passage):
                return answer
            agreed, note = matter.exact, answer.note
        return Passage(refusal=self._refuse(matter, refusals.CHANGED, by="safety"))

    def _matter(self, entry: ToolEntry, call: ToolCall) -> _Matter:
        folder = folder_of(self.context)
        case = case_of(entry, call, self.context, objection_of(entry, call, self.context))
        case = self.checks.upon(case, self.context)
        asking = self.policy.asking(case)
        is_firm = asking or (case.objection is not None and case.objection.firm)
        request = request_for(
            case,
            folder,
            reason=f"falls under a rule of yours: {asking.text}" if asking else "",
            # What a person wants to be asked about cannot be allowed for good.
            rule="" if is_firm else self.desk.grants.offered(case),
            purpose=self.purpose(),
        )
        return _Matter(case, request)

    def _forbidden(self, matter: _Matter) -> str:
        """Why it may not run, whoever might want it."""
        case, objection = matter.case, matter.case.objection
        if objection is not None and objection.forbidden:
            return self._refuse(matter, refusals.forbidden(objection.reason), by="safety")
        if rule := self.policy.denying(case):
            return self._refuse(matter, refusals.BY_RULE, by="rule", note=rule.text)
        if self.policy.forbids_changes(case):
            return self._refuse(matter, refusals.PLANNING, by="mode")
        return ""

    def _settled(self, matter: _Matter) -> Passage | None:
        """What is clear without an answer; None if one is needed."""
        case, desk = matter.case, self.desk
        if desk.denials.cover(case):
            return Passage(refusal=self._refuse(matter, refusals.EARLIER, by="earlier"))
        asking = self.policy.asking(case)
        if case.objection is None and asking is None:
            return OPEN
        if not desk.denials.overlap(case):
            if desk.grants.has_exactly(case):
                return self._open(matter, "session", by="grant")
            if asking is None and (passage := self._unasked(matter)):
                return passage
        if self.policy.mode == "deny":
            return Passage(
                refusal=self._refuse(matter, refusals.by_mode(matter.request.reason), by="mode")
            )
        if len(matter.request.shown) > MAX_SHOWN_CHARS:
            return Passage(refusal=self._refuse(matter, refusals.TOO_LONG, by="safety"))
        return None

    def _unasked(self, matter: _Matter) -> Passage | None:
        case = matter.case
        if case.objection and case.objection.firm and self.policy.mode != "off":
            return None
        if rule := self.policy.allowing(case):
            return self._open(matter, "once", by="rule", note=rule.text)
        if rule := self.desk.grants.always(case):
            return self._open(matter, "always", by="grant", note=rule.text)
        if self.policy.by_mode(case) == "allow":
            return self._open(matter, "once", by="mode")
        if self._is_shut_in(case):
            return self._open(matter, "once", by="isolation")
        return None

    def _is_shut_in(self, case: Case) -> bool:
        environment = self.context.get("environment")
        return environment is not None and self.policy.lets_loose(case, environment.isolation)

    async def _answer(self, matter: _Matter) -> Passage | Ruling:
        """A ruling that allows it, or what becomes of it otherwise."""
        case, request = matter.case, matter.request
        if self._may_be_judged(case) and await self._is_judged_harmless(request):
            self._told(request, Ruling(decision="once"), by="judge")
            return Ruling(decision="once")
        getting_ready = asyncio.ensure_future(self._get_ready(case))
        try:
            answer = await self.desk.decide(request, self.emit, within=self.timeout)
        finally:
            getting_ready.cancel()  # what has begun ends by itself
        ruling = answer.value
        if ruling.decision == "deny":
            return Passage(refusal=self._refused(case, answer))
        if ruling.edited is not None:
            args = {**case.call.args, request.editable: ruling.edited}
            return Passage(edited=replace(case.call, args=args), note=ruling.note)
        self._grant(matter, ruling.decision)
        return ruling

    async def _get_ready(self, case: Case) -> None:
        await asyncio.sleep(SECONDS_TO_READ)
        try:
            await in_tool_thread(lambda: self.prepare(case.entry, case.call))
        except Exception:  # the call itself will meet it again, and tell
            logger.debug("the call is not ready", exc_info=True)

    def _may_be_judged(self, case: Case) -> bool:
        if self.judge is None or not self.policy.may_be_judged(case):
            return False
        if case.objection is not None and case.objection.firm:
            return False
        return not self.policy.asking(case) and not self.desk.denials.overlap(case)

    async def _is_judged_harmless(self, request: ApprovalRequest) -> bool:
        assert self.judge is not None
        try:
            return await self.judge.judge(request) == "allow"
        except Exception:  # fail closed: a broken judge is no permission
            logger.warning("the judge failed", exc_info=True)
            return False

    def _grant(self, matter: _Matter, decision: Decision) -> None:
        grants = self.desk.grants
        if decision == "always":
            try:
                grants.allow_always(matter.request.rule)
            except OSError as error:
                said = f"the rule could not be kept ({error}); it holds for this session"
                self.emit(NoticeGiven(text=said, level="warning"))
                decision = "session"
        if decision == "session":
            grants.allow_exactly(matter.case)

    def _refused(self, case: Case, answer: Answer[Ruling]) -> str:
        note = answer.value.note
        match answer.by:
            case "policy":
                return refusals.NOBODY
            case "timeout":
                self.desk.denials.add(case)
                return refusals.silence(self.timeout)
            case "interrupt":
                return refusals.ENDED
        self.desk.denials.add(case, note=note)
        return refusals.by_user(note)

    def _refuse(self, matter: _Matter, refusal: str, *, by: str, note: str = "") -> str:
        self._told(matter.request, Ruling(decision="deny", note=note), by=by)
        return refusal

    def _open(self, matter: _Matter, decision: Decision, *, by: str, note: str = "") -> Passage:
        self._told(matter.request, Ruling(decision=decision, note=note), by=by)
        return OPEN

    def _told(self, request: ApprovalRequest, ruling: Ruling, *, by: str) -> None:
        self.emit(
            ApprovalResolved(request=request, decision=ruling.decision, by=by, note=ruling.note)
        )
