"""A turn as plain text, for terminals and front ends without widgets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, Question, Ruling, ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    ChildFinished,
    ChildStarted,
    ChildTold,
    Event,
    MessageSaid,
    NoticeGiven,
    QuestionAnswered,
    QuestionAsked,
    ReplayCompared,
    RetryPlanned,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact, redact_command
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Desk, Emoji, no_emoji
from hermes_jupyter.views.limits import excerpt
from hermes_jupyter.views.lines_of_children import TextLanes
from hermes_jupyter.views.prompts import (
    DENY,
    END,
    approval_prompt,
    choices,
    chosen,
    confirm_prompt,
    confirmation_of,
    edit_prompt,
    question_prompt,
    ruling_of,
)
from hermes_jupyter.views.sanitize import clean, last_lines, one_line, reveal

logger = logging.getLogger(__name__)

Ask = Callable[[str, str], Awaitable[str]]
"""Shows a prompt, and a text to begin with, and waits for the line that a person enters.

An empty prompt goes on with what the last one asked for.
"""

AskSecret = Callable[[str], Awaitable[str]]

INTERRUPTED = (InterruptedError, KeyboardInterrupt)
"""A KeyboardInterrupt let out of a task would end the thread of the agent's loop."""
UNANSWERED = (EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""How asking fails: end of input, a broken or closed stream, no stdin, no cell that waits."""

MAX_PROMPTS = 20
"""About one request; then whatever enters the lines is no person."""
MAX_SHOWN = 20_000
"""Characters of the answer to a call that a person made."""
_DIM, _RED, _GREEN, _YELLOW = "2", "31", "32", "33"
_COLOURS = {"ok": _GREEN, "error": _RED, "denied": _YELLOW}


class TextView:
    """A view that writes lines as things happen.

    Parameters
    ----------
    write
        Takes text as it comes, like ``sys.stdout.write``; colours are used if it is the
        ``write`` of a terminal.
    ask, desk
        How to ask a person, and where the answer goes. Without them this view only shows.
    prefills
        Does ``ask`` show the text to begin with?
    ask_secret
        The same as ``ask`` for passwords: what is entered is not shown.
    """

    def __init__(
        self,
        write: Callable[[str], Any],
        ask: Ask | None = None,
        *,
        desk: Desk | None = None,
        prefills: bool = False,
        ask_secret: AskSecret | None = None,
        emoji: Emoji = no_emoji,
    ) -> None:
        self._ask_secret = ask_secret
        self._sink, self._ask, self._desk, self._emoji = write, ask, desk, emoji
        is_terminal = getattr(getattr(write, "__self__", None), "isatty", lambda: False)
        self._prefills = prefills
        self._coloured = bool(is_terminal())
        self._started: TurnStarted | None = None
        self._by_hand = False
        self._word = ""  # the end of the stream, until it is known to be a whole word
        self._streamed = False
        self._at_line_start = True
        self._children = TextLanes(self._line_of_child, emoji)
        self._denied: set[str] = set()  # calls whose denial is told
        self._prompts: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()
        self._prompting = False
        self._held: list[str] = []

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(steps=steps):
                self._started, self._by_hand = event, steps == 0
            case StepStarted():
                self._end_stream()
            case TextStreamed(text=text):
                self._stream(text)
            case StepFinished(text=text):
                self._finish_step(text)
            case ToolCallStarted(call=call) if not call.by:
                self._line(f"  {self._about(call)} …", _DIM)
            case ToolCallFinished(result=result) if not result.call.by:
                self._finish_call(result)
            case ApprovalRequested(request=request):
                self._prompt(request.id, request.reason, self._approve(request))
            case ApprovalResolved(request=request, by=by):
                self._close_prompt(request.id, by)
                if not request.path:  # else it comes in a ChildTold
                    self._finish_approval(event)
            case ChildStarted() | ChildTold() | ChildFinished():
                self._children(event)
            case QuestionAsked(question=question):
                self._prompt(question.id, question.text, self._reply(question))
            case QuestionAnswered(question=question, answer=answer, by=by):
                self._close_prompt(question.id, by)
                if answer is None:
                    self._line(f"  Nobody answered: {one_line(question.text, 200)}", _YELLOW)
                elif by != "input":  # else it was typed here
                    self._line(f"  {words.replied(answer, by)}")
            case ReplayCompared(differences=differences):
                self._line(f"  {words.compared(len(differences))}", _YELLOW)
                for line in redact("\n\n".join(differences)).splitlines():
                    self._line(f"      {line}")
            case RetryPlanned():
                self._line(f"  {words.retry(event)}", _DIM)
            case MessageSaid(text=text):
                self._line(f"  {words.YOU} {one_line(redact(text), 2_000)}")
            case NoticeGiven(text=text, level=level) if text:
                self._line(f"  {one_line(text, 300)}", _YELLOW if level == "warning" else _DIM)
            case TurnFinished():
                self._finish_turn(event)

    def _about(self, call: ToolCall) -> str:
        return words.about(call, self._emoji)

    # What the model says

    def _stream(self, text: str) -> None:
        if not self._streamed:
            self._line("")
        self._streamed = True
        whole, self._word = _last_word(self._word + text)
        self._write(redact(clean(whole)))

    def _end_stream(self) -> None:
        if self._streamed:
            self._write(redact(clean(self._word)))
            self._line("")
        self._streamed, self._word = False, ""

    def _finish_step(self, text: str) -> None:
        if not self._streamed and text.strip():
            self._stream(text)
        self._end_stream()

    # Calls and the end

    def _finish_call(self, result: ToolResult) -> None:
        if result.status == "denied" and result.call.id in self._denied:
            return
        ending = words.ending(result.status, result.seconds, result.exit_code)
        line = f"  {self._about(result.call)}  {ending}"
        self._line(line, _COLOURS.get(result.status, _RED))
        if self._by_hand:
            for said in excerpt(words.readable_result(result.text), MAX_SHOWN).splitlines():
                self._line(f"      {said}")
        elif result.status in {"error", "timeout"}:
            for said in last_lines(redact(words.readable_result(result.text)), 5):
                self._line(f"      {one_line(said, 200)}", _DIM)

    def _finish_turn(self, event: TurnFinished) -> None:
        self._end_stream()
        for task in self._prompts.values():
            task.cancel()
        self._prompts.clear()
        if event.status != "done":
            self._line(words.ended(event), _RED)
        steps = words.steps_done(event.steps)
        started = self._started
        model = event.model or (started.model if started else "")
        footer = words.footer(
            model, steps, event.usage, event.seconds, started=started, changed=event.changed
        )
        self._line(footer, _DIM)

    def _finish_approval(self, event: ApprovalResolved) -> None:
        call = event.request.call
        if call.by and not words.is_worth_showing(event):
            return
        if event.decision == "deny":
            self._denied.add(call.id)
        self._line(
            f"  {self._about(call)}  {words.DECISIONS[event.decision][0]} {words.resolved(event)}"
        )
        if event.edited is not None and event.decision != "deny":
            for line in reveal(redact_command(event.edited)).split("\n"):
                self._line(f"      {line}")

    def _line_of_child(self, text: str, state: str = "") -> None:
        self._line(f"    {text}", _COLOURS.get(state, _DIM))

    # Prompts

    def _prompt(self, key: str, why: str, asking: Coroutine[Any, Any, None]) -> None:
        if self._ask is None or self._desk is None:
            asking.close()
            self._line(f"  Waiting for an answer: {one_line(why, 200)}", _YELLOW)
            return
        self._prompts[key] = asyncio.get_running_loop().create_task(asking)

    def _close_prompt(self, key: str, by: str) -> None:
        """Withdraw a prompt that was answered elsewhere."""
        task = self._prompts.pop(key, None)
        if task is not None and by != "input":
            task.cancel()

    async def _approve(self, request: ApprovalRequest) -> None:
        async with self._one_at_a_time:
            ruling, by = await self._ruled(request)
        if self._desk is None:
            return
        if not self._desk.answer(request.id, ruling, by=by, digest=request.digest):
            self._line("  Expired: it was already answered", _DIM)

    async def _ruled(self, request: ApprovalRequest) -> tuple[Ruling, str]:
        prompt = approval_prompt(request)
        for _ in range(MAX_PROMPTS):
            line, by = await self._entered(prompt)
            meant = ruling_of(line, request)
            if isinstance(meant, Ruling):
                return meant, by
            prompt = f"  Not offered here. {choices(request)}: "
            if meant == "edit":
                if edited := await self._edited(str(request.call.args.get(request.editable, ""))):
                    return edited
                prompt = f"  Nothing to run. {choices(request)}: "
        return DENY, "policy"

    async def _edited(self, asked: str) -> tuple[Ruling, str] | None:
        """What a person makes of ``asked``, after a second look; None if it is nothing."""
        text = reveal(asked)
        for _ in range(MAX_PROMPTS):
            text, by = await self._new_text(text)
            if not text.strip():
                return None if by == "input" else (DENY, by)
            line, by = await self._entered(confirm_prompt(text))
            meant = confirmation_of(line)
            if isinstance(meant, Ruling):
                return meant, by
            if meant == "run":
                return Ruling(decision="once", edited=None if text == asked else text), by
        return DENY, "policy"

    async def _new_text(self, text: str) -> tuple[str, str]:
        several = "\n" in text
        prefill = text if self._prefills and not several else ""
        line, by = await self._entered(edit_prompt(text, prefilled=bool(prefill)), prefill)
        lines = []
        while several and by == "input" and line.rstrip() != END:
            lines.append(line)
            line, by = await self._entered("")  # goes on, so that lines may be pasted
        return ("\n".join(lines) if several and by == "input" else line), by

    async def _reply(self, question: Question) -> None:
        async with self._one_at_a_time:
            if question.secret:
                line, by = await self._awaited(self._ask_secret, question_prompt(question))
                answer = line or None
            else:
                line, by = await self._entered(question_prompt(question))
                answer = chosen(line.strip(), question.choices)
        if self._desk is not None:
            self._desk.reply(question.id, answer, by=by)

    async def _entered(self, prompt: str, prefill: str = "") -> tuple[str, str]:
        return await self._awaited(self._ask, prompt, prefill)

    async def _awaited(
        self, ask: Callable[..., Awaitable[str]] | None, *prompt: str
    ) -> tuple[str, str]:
        """The line that a person enters, and by whom: empty if nobody can.

        Other output waits until then.
        """
        self._end_line()
        self._prompting = True
        try:
            return (await ask(*prompt), "input") if ask is not None else ("", "policy")
        except INTERRUPTED:
            return "", "interrupt"
        except UNANSWERED:
            return "", "policy"
        except Exception:  # a request without an answer would wait for ever
            logger.exception("nobody could be asked")
            return "", "policy"
        finally:
            self._prompting = False
            held, self._held = self._held, []
            self._at_line_start = True
            self._write("".join(held))

    # Writing

    def _line(self, text: str, colour: str = "") -> None:
        self._end_line()
        if text:
            text = clean(text)
            painted = f"\x1b[{colour}m{text}\x1b[0m" if colour and self._coloured else text
            self._write(f"{painted}\n")

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if not text:
            return
        self._at_line_start = text.endswith("\n")
        if self._prompting:
            self._held.append(text)
        else:
            self._sink(text)


def _last_word(text: str) -> tuple[str, str]:
    """Split off the last word, which a secret or an escape sequence may continue."""
    end = max(text.rfind("\n"), text.rfind(" ")) + 1
    if not end and len(text) > 2000:
        end = len(text)
    return text[:end], text[end:]
