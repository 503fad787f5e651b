"""A turn as plain text, for terminals and front ends without widgets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from hermes_jupyter.calls import ApprovalRequest, Decision, Question, ToolCall, ToolResult
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    NoticeGiven,
    QuestionAnswered,
    QuestionAsked,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.redaction import redact
from hermes_jupyter.views import words
from hermes_jupyter.views.base import Desk, Emoji, no_emoji
from hermes_jupyter.views.limits import excerpt
from hermes_jupyter.views.sanitize import clean, last_lines, one_line, reveal

logger = logging.getLogger(__name__)

Ask = Callable[[str], Awaitable[str]]
"""Shows a prompt and waits for the line that a person enters."""

DECISIONS: dict[str, Decision] = {"y": "once", "yes": "once", "s": "session", "session": "session"}
"""What may be entered at the approval prompt. Anything else denies."""

INTERRUPTED = (InterruptedError, KeyboardInterrupt)
"""A KeyboardInterrupt let out of a task would end the thread of the agent's loop."""
UNANSWERED = (EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""How asking fails: end of input, a broken or closed stream, no stdin, no cell that waits."""

LINES_IN_SIGHT = 15
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
    """

    def __init__(
        self,
        write: Callable[[str], Any],
        ask: Ask | None = None,
        *,
        desk: Desk | None = None,
        emoji: Emoji = no_emoji,
    ) -> None:
        self._sink, self._ask, self._desk, self._emoji = write, ask, desk, emoji
        is_terminal = getattr(getattr(write, "__self__", None), "isatty", lambda: False)
        self._coloured = bool(is_terminal())
        self._model = ""
        self._by_hand = False
        self._word = ""  # the end of the stream, until it is known to be a whole word
        self._streamed = False
        self._at_line_start = True
        self._prompts: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()
        self._prompting = False
        self._held: list[str] = []

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(model=model, steps=steps):
                self._model, self._by_hand = model, steps == 0
            case StepStarted():
                self._end_stream()
            case TextStreamed(text=text):
                self._stream(text)
            case StepFinished(text=text):
                self._finish_step(text)
            case ToolCallStarted(call=call):
                self._line(f"  {self._about(call)} …", _DIM)
            case ToolCallFinished(result=result):
                self._finish_call(result)
            case ApprovalRequested(request=request):
                self._prompt(request.id, request.reason, self._approve(request))
            case ApprovalResolved(request=request, decision=decision, by=by):
                self._close_prompt(request.id, by)
                self._line(f"  {words.decided(decision, by)}: {self._about(request.call)}")
            case QuestionAsked(question=question):
                self._prompt(question.id, question.text, self._reply(question))
            case QuestionAnswered(question=question, answer=answer, by=by):
                self._close_prompt(question.id, by)
                if answer is None:
                    self._line(f"  Nobody answered: {one_line(question.text, 200)}", _YELLOW)
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
        self._line(
            words.footer(event.model or self._model, steps, event.usage, event.seconds), _DIM
        )

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
        line, by = await self._entered(approval_prompt(request))
        decision = DECISIONS.get(line.strip().lower(), "deny")
        if self._desk is not None:
            self._desk.answer(request.id, decision, by=by, digest=request.digest)

    async def _reply(self, question: Question) -> None:
        line, by = await self._entered(question_prompt(question))
        if self._desk is not None:
            self._desk.reply(question.id, _chosen(line.strip(), question.choices), by=by)

    async def _entered(self, prompt: str) -> tuple[str, str]:
        """The line that a person enters, and by whom: empty if nobody can.

        Other output waits until then.
        """
        async with self._one_at_a_time:
            self._end_line()
            self._prompting = True
            try:
                return (await self._ask(prompt) if self._ask is not None else ""), "input"
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


def approval_prompt(request: ApprovalRequest) -> str:
    """All that a person needs to decide, and how to answer."""
    listing = reveal(request.shown).split("\n")
    shown = "\n".join(f"      {line}" for line in listing)
    long = len(listing) > LINES_IN_SIGHT
    # A folder's name may hold line ends, with which it could write lines of this prompt.
    folder = reveal(request.cwd).replace("\n", "⟨U+000A⟩")
    lines = [
        f"  ⚠ {one_line(request.call.name, 60)}: {one_line(request.reason, 500)}",
        shown,
        f"    in {folder}" if request.cwd else "",
        f"    this session: {one_line(request.grant, 300)}" if request.grant else "",
        f"  {one_line(request.reason, 500)} ({len(listing)} lines; scroll up)" if long else "",
        "  Allow? y = once, s = this session, Enter = no: ",
    ]
    return "\n".join(line for line in lines if line)


def question_prompt(question: Question) -> str:
    choices = [
        f"    {number}. {one_line(choice, 200)}"
        for number, choice in enumerate(question.choices, 1)
    ]
    how = "  Number or text: " if choices else "  Answer: "
    return "\n".join([f"  ? {clean(question.text)}", *choices, how])


def _chosen(line: str, choices: Sequence[str]) -> str | None:
    """A number stands for its choice; an empty line is no answer."""
    number = int(line) if line.isdecimal() else 0
    return choices[number - 1] if 0 < number <= len(choices) else line or None


def _last_word(text: str) -> tuple[str, str]:
    """Split off the last word, which a secret or an escape sequence may continue."""
    end = max(text.rfind("\n"), text.rfind(" ")) + 1
    if not end and len(text) > 2000:
        end = len(text)
    return text[:end], text[end:]
