"""Does what requests on the control channel ask for. Nothing here waits."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_args

import hermes_jupyter
from hermes_jupyter.calls import ApprovalRequest, Decision, Question, Ruling
from hermes_jupyter.control import fields
from hermes_jupyter.control.fields import Content
from hermes_jupyter.control.watch import UNANSWERED, Waiting, Watch, WatchedTurn
from hermes_jupyter.kernel.control import Refusal

BY = "message"
"""How answers that come this way are told and logged, unless they say what they come from."""
PAGES = ("panel", "page")
"""What they may come from: JupyterLab's panel, the server's page. A word for people, no proof."""
DECISIONS: tuple[str, ...] = get_args(Decision)
UNBEGUN: Mapping[str, Any] = {"version": hermes_jupyter.__version__, "begun": False}
"""The status of a kernel in which nothing was asked yet: it has read no settings."""
NO_MORE: Mapping[str, Callable[[Content], Content]] = MappingProxyType({})
OTHER = "what you saw is not what waits now; look at it again"
NOTHING = "there is nothing to run; write what shall run, or deny it"


class Answering:
    """Answers the requests of a kernel's clients, by what they ask to ``do``.

    Parameters
    ----------
    more
        What else can be asked, and who does it.
    """

    def __init__(
        self,
        watch: Watch,
        status: Callable[[], Mapping[str, Any]],
        more: Mapping[str, Callable[[Content], Content]] = NO_MORE,
    ) -> None:
        self._watch, self._status = watch, status
        self._doing: Mapping[str, Callable[[Content], Content]] = {
            "pending": self._pending,
            "answer": self._answer,
            "reply": self._reply,
            "stop": self._stop,
            "say": self._say,
            "status": self._tell_status,
            **more,
        }

    def __call__(self, content: Content) -> Content:
        """Do it.

        Raises
        ------
        Refusal
        """
        return self._doing[fields.chosen(content, "do", lambda: [*self._doing])](content)

    def _pending(self, content: Content) -> Content:
        fields.only(content)
        waiting = self._watch.waiting()
        return {
            "requests": [w.shown for w in waiting if isinstance(w.about, ApprovalRequest)],
            "questions": [w.shown for w in waiting if isinstance(w.about, Question)],
            "turns": [turn.shown() for turn in self._watch.turns()],
        }

    def _tell_status(self, content: Content) -> Content:
        fields.only(content)
        return {**self._status(), "turns": [turn.shown() for turn in self._watch.turns()]}

    def _answer(self, content: Content) -> Content:
        fields.only(content, "request", "digest", "choice", "note", "edited", "by")
        waiting = self._found(content, "request", ApprovalRequest)
        request = waiting.about
        assert isinstance(request, ApprovalRequest)
        ruling, by = _ruling(content, request), _by(content)
        if not waiting.turn.session.desk.answer(request.id, ruling, by=by, digest=request.digest):
            raise self._too_late(request.id)
        return {"outcome": {"decision": ruling.decision, "by": by}}

    def _reply(self, content: Content) -> Content:
        fields.only(content, "question", "digest", "text", "by")
        waiting = self._found(content, "question", Question)
        said, by = fields.text(content, "text"), _by(content)
        if not waiting.turn.session.desk.reply(waiting.about.id, said or None, by=by):
            raise self._too_late(waiting.about.id)
        return {"outcome": {"decision": "answered" if said else "unanswered", "by": by}}

    def _stop(self, content: Content) -> Content:
        fields.only(content, "turn")
        return {"stopping": self._turn(content).session.stop()}

    def _say(self, content: Content) -> Content:
        fields.only(content, "turn", "text")
        turn, text = self._turn(content), fields.text(content, "text")
        if not (text or "").strip():
            raise Refusal("invalid", "there is nothing to say")
        return {"read_by_turn": turn.session.mailbox.say(text)}

    def _found(self, content: Content, field: str, kind: type[Any]) -> Waiting:
        name, digest = fields.name(content, field), fields.name(content, "digest")
        waiting = self._watch.find(name)
        if waiting is None:
            raise self._too_late(name)
        if not isinstance(waiting.about, kind):
            raise Refusal("unknown", f"{name[:60]!r} is no {field}")
        if not hmac.compare_digest(digest.encode("utf-8", "replace"), waiting.digest):
            raise Refusal("digest", OTHER)
        return waiting

    def _turn(self, content: Content) -> WatchedTurn:
        name = fields.name(content, "turn")
        for turn in self._watch.turns():
            if turn.id == name:
                return turn
        raise Refusal("unknown", f"no turn {name[:60]!r} runs here; it may have ended")

    def _too_late(self, name: str) -> Refusal:
        outcome = self._watch.answer_to(name)
        if outcome is None and self._watch.find(name) is None:
            return Refusal("unknown", f"nothing waits here under {name[:60]!r}")
        if outcome is None:  # the answer is on its way to those who asked
            return Refusal("answered", "it was answered just before; your answer changed nothing")
        if outcome["by"] in UNANSWERED:
            return Refusal("stale", "it does not wait any more; your answer changed nothing")
        said = outcome["said"] or "it was answered"
        return Refusal("answered", f"{said}; your answer changed nothing")


def _by(content: Content) -> str:
    """What the answer comes from, as it says."""
    return BY if content.get("by") is None else fields.chosen(content, "by", lambda: [*PAGES])


def _ruling(content: Content, request: ApprovalRequest) -> Ruling:
    """What the answer means.

    Raises
    ------
    Refusal
        If it was not offered.
    """
    offered = [each for each in DECISIONS if each != "always" or request.rule]
    decision: Any = fields.chosen(content, "choice", lambda: offered)
    note = fields.text(content, "note", fields.MAX_NOTE_CHARS) or ""
    edited = fields.text(content, "edited")
    if edited is None:
        return Ruling(decision=decision, note=note)
    if not request.editable:
        raise Refusal("invalid", "what would run here cannot be edited")
    if decision != "once":
        raise Refusal("invalid", "what was edited can be allowed once, and no other way")
    if not edited.strip():
        raise Refusal("invalid", NOTHING)
    is_changed = edited != request.call.args.get(request.editable)
    return Ruling(decision=decision, note=note, edited=edited if is_changed else None)
