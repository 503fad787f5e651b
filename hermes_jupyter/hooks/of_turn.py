"""The hooks of one turn: its events as payloads, and what hooks add to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, ToolCall
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    ChildFinished,
    ChildStarted,
    Event,
    ModelCalled,
    RetryPlanned,
    StepStarted,
    ToolCallFinished,
    TurnFinished,
)
from hermes_jupyter.hooks.payloads import (
    ApiRequestError,
    OnSessionEnd,
    OnSessionStart,
    PostApiRequest,
    PostApprovalResponse,
    PostLlmCall,
    PostToolCall,
    PreApiRequest,
    PreApprovalRequest,
    PreLlmCall,
    SubagentStart,
    SubagentStop,
    TransformLlmOutput,
)
from hermes_jupyter.hooks.registry import Hooks
from hermes_jupyter.store.sessions.masking import masked, masked_value
from hermes_jupyter.text import json_object

MAX_CONTEXT_CHARS = 20_000
ADDED = "\n\n[Added by a hook of the user's:]\n{text}"


class TurnHooks:
    """A listener of one turn that tells hooks of it. Costs nothing while there is none.

    Parameters
    ----------
    about
        ``session_id task_id turn_id``.
    model
        The name of the model that is asked now.
    """

    def __init__(self, hooks: Hooks, about: Mapping[str, Any], model: Callable[[], str]) -> None:
        self._hooks, self._about, self._model = hooks, about, model
        self._step = 0

    def __call__(self, event: Event) -> None:
        if self._hooks:
            self._tell(event)

    def begin(self, *, resumed: bool) -> None:
        """A conversation begins, or goes on in this kernel."""
        self._hooks.tell(OnSessionStart(model=self._model(), resumed=resumed, **self._about))

    async def context(self, prompt: str, history: Sequence[Any], *, is_first: bool) -> str:
        """What hooks add behind a prompt; empty if nothing."""
        if not self._hooks.wants("pre_llm_call"):
            return ""
        heard = await self._hooks.ask(
            PreLlmCall(
                user_message=masked(prompt),
                conversation_history=masked_value([*history]),
                is_first_turn=is_first,
                model=self._model(),
                **self._about,
            )
        )
        texts = [_context_in(each.answer) for each in heard]
        text = masked("\n\n".join(filter(None, texts)))[:MAX_CONTEXT_CHARS]
        return ADDED.format(text=text) if text.strip() else ""

    def answered(self, prompt: str, answer: str, history: Sequence[Any]) -> None:
        """The turn has its answer."""
        if self._hooks.wants("post_llm_call"):
            self._hooks.tell(
                PostLlmCall(
                    user_message=masked(prompt),
                    assistant_response=masked(answer),
                    conversation_history=masked_value([*history]),
                    model=self._model(),
                    **self._about,
                )
            )

    async def polished(self, text: str) -> str:
        """What hooks make of an answer of the model."""
        if not self._hooks.wants("transform_llm_output"):
            return text
        told = TransformLlmOutput(response_text=masked(text), model=self._model(), **self._about)
        said = await self._hooks.text(told)
        return text if said is None else said

    def _tell(self, event: Event) -> None:
        tell, about = self._hooks.tell, self._about
        match event:
            case StepStarted(number=number):
                self._step = number
                tell(PreApiRequest(model=self._model(), api_call_count=number, **about))
            case ModelCalled():
                tell(_answer_of(event, about))
            case RetryPlanned(reason=reason, seconds=seconds):
                self._failed(reason, seconds)
            case ToolCallFinished():
                tell(_result_of(event, about))
            case ChildStarted() | ChildFinished():
                tell(_child_of(event, about))
            case ApprovalRequested(request=request) if not request.path:  # a child tells its own
                tell(PreApprovalRequest(**_request(request), **about))
            case ApprovalResolved(request=request, decision=choice, by=by) if not request.path:
                tell(PostApprovalResponse(**_request(request), choice=choice, by=by, **about))
            case TurnFinished(status=status, reason=reason):
                if status == "failed":
                    self._failed(reason, None)
                self._ended(event)

    def _failed(self, reason: str, seconds: float | None) -> None:
        self._hooks.tell(
            ApiRequestError(
                model=self._model(),
                api_call_count=self._step,
                error_message=masked(reason),
                retry_in_seconds=seconds,
                **self._about,
            )
        )

    def _ended(self, event: TurnFinished) -> None:
        self._hooks.tell(
            OnSessionEnd(
                model=event.model,
                completed=event.status == "done",
                interrupted=event.status == "interrupted",
                reason=masked(event.reason),
                **self._about,
            )
        )


def _answer_of(event: ModelCalled, about: Mapping[str, Any]) -> PostApiRequest:
    return PostApiRequest(
        model=event.model,
        api_call_count=event.number,
        duration_ms=round(event.seconds * 1_000),
        finish_reason=event.finish,
        usage=asdict(event.usage),
        **about,
    )


def _result_of(event: ToolCallFinished, about: Mapping[str, Any]) -> PostToolCall:
    result = event.result
    wrong = "" if result.status == "ok" else (json_object(result.text) or {}).get("error", "")
    return PostToolCall(
        **_call(result.call),
        result=masked(result.text),
        status=result.status,
        duration_ms=round(result.seconds * 1_000),
        error_message=masked(str(wrong or result.mistake)),
        **about,
    )


def _child_of(
    event: ChildStarted | ChildFinished, about: Mapping[str, Any]
) -> SubagentStart | SubagentStop:
    child = event.child
    who = {"child_session_id": child.session_id, "child_goal": masked(child.goal)}
    if isinstance(event, ChildStarted):
        return SubagentStart(**who, model=child.model, **about)
    return SubagentStop(
        **who,
        child_status=event.status,
        child_summary=masked(event.text),
        duration_ms=round(event.seconds * 1_000),
        model=child.model,
        error_message=masked(event.reason),
        **about,
    )


def _call(call: ToolCall) -> dict[str, Any]:
    return {"tool_name": call.name, "args": masked_value(call.args), "tool_call_id": call.id}


def _request(request: ApprovalRequest) -> dict[str, Any]:
    shown, why = masked(request.shown), masked(request.reason)
    return {**_call(request.call), "command": shown, "description": why}


def _context_in(answer: Any) -> str:
    said = answer.get("context") if isinstance(answer, Mapping) else answer
    return said if isinstance(said, str) else ""
