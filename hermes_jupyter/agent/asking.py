"""One answer of a model, whatever it takes: waits, other models, several calls for one text.

The loop asks; here it is decided what becomes of a call that fails or that does not come to an
end. What was shown to the person stays, and the answer goes on behind it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Message, Model, Reply
from hermes_jupyter.agent.remedies import REMEDIES, Remedy
from hermes_jupyter.agent.seams import Seam, anchor_of
from hermes_jupyter.agent.spending import UNBOUNDED, Spending
from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import ConfigurationError, HermesError, ModelError
from hermes_jupyter.events import (
    Event,
    ModelCalled,
    NoticeGiven,
    ReasoningStreamed,
    RetryPlanned,
    StepStarted,
    TextStreamed,
)

MAX_TRIES = 3
MAX_CONTINUATIONS = 3
MAX_COMPACTIONS = 2
BASE_SECONDS = 2.0
MAX_BACKOFF = 60.0
MAX_WAIT = 600.0
"""A server that wants to be left alone for longer is given up."""
IMPATIENT = 60.0
"""So long one waits although another model is there."""
GO_ON = (
    "Your answer was cut off. Go on from exactly where it stopped. Begin with these last words, "
    "then write what follows, and nothing about the cut:\n{anchor}"
)


class CeilingReached(Exception):
    """The next call could pass a ceiling of the turn. ``args[0]`` says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a failing model is asked again."""

    tries: int = MAX_TRIES
    base: float = BASE_SECONDS
    """Seconds before the second try; each further one waits twice as long."""


@dataclass(slots=True)
class _Said:
    """An answer as far as it has come."""

    text: str = ""
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)
    continuations: int = 0


@dataclass(slots=True)
class _Tries:
    """What was tried for one answer."""

    failed: int = 0
    """Calls since the last that brought something."""
    compactions: int = 0


@dataclass(kw_only=True)
class Asker:
    """Asks the models of one turn.

    Parameters
    ----------
    fallbacks
        Open the models to ask when the first fails, in order; each is opened once it is needed.
    compact
        Makes the transcript shorter, in place; False if it cannot. None: nothing can.
    """

    model: Model
    emit: Callable[[Event], None]
    fallbacks: Sequence[Callable[[], Model]] = ()
    spending: Spending = field(default_factory=Spending)
    patience: Patience = field(default_factory=Patience)
    compact: Callable[[ModelError], Awaitable[bool]] | None = None
    step: Callable[[], int] = lambda: 0
    """The number of the step, for events."""
    partial: str = ""
    """What was shown of the answer that is being asked for."""
    _next: int = 0
    _noticed: bool = False

    async def ask(
        self,
        transcript: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        *,
        tail: Sequence[Message] = (),
        is_last: bool = False,
    ) -> Reply:
        """One whole answer to the transcript, and to ``tail`` behind it, which is not kept.

        Raises
        ------
        ModelError
            If nothing helps.
        CeilingReached
            If the call could pass a ceiling; nothing was sent.
        """
        said, tries = _Said(), _Tries()
        while True:
            try:
                reply = await self._call(transcript, tools, tail, said, is_last=is_last)
            except ModelError as error:
                said.text = self.partial
                await self._remedy(error, tries)
                continue
            except CeilingReached:
                if said.text:
                    return _whole(Reply(finish="length"), said)
                raise
            said.text = self.partial
            tries.failed = 0
            said.reasoning += reply.reasoning
            said.usage += reply.usage
            if not _goes_on(reply, said):
                self._settled()
                return _whole(reply, said)
            said.continuations += 1

    async def _call(
        self,
        transcript: Sequence[Message],
        tools: Sequence[dict[str, Any]],
        tail: Sequence[Message],
        said: _Said,
        *,
        is_last: bool,
    ) -> Reply:
        """One call; `partial` has all that was shown, also if it fails."""
        self.partial = said.text
        model = self.model
        more = [*tail, *_resumption(said.text, model)]
        messages = [*transcript, *more] if more else transcript
        limit = await self._limit(model, messages, tools, is_last=is_last)
        bound = {"max_answer": limit} if limit < UNBOUNDED else {}
        hear, seam = self._hearer(said.text, model)
        began = time.monotonic()
        try:
            reply = await model.reply(messages, tools, hear, **bound)
        except ModelError:
            self._count_lost(messages, tools)
            raise
        finally:
            if seam is not None:
                seam.finish()
        if seam is None:
            self.partial = said.text + reply.text
        self.spending.add(reply.usage, messages)
        self.emit(
            ModelCalled(
                number=self.step(),
                model=model.name,
                usage=reply.usage,
                seconds=time.monotonic() - began,
                finish=reply.finish,
            )
        )
        return reply

    def _hearer(self, before: str, model: Model) -> tuple[Callable[[Delta], None], Seam | None]:
        """Turns the pieces of a call into events."""
        seam = Seam(before, self._show, self._start_over) if before and not model.prefills else None
        show = self._show if seam is None else seam.feed

        def hear(delta: Delta) -> None:
            match delta.kind:
                case "text":
                    show(delta.text)
                case "reasoning":
                    self.emit(ReasoningStreamed(text=delta.text))
                case "notice":
                    self._noticed = bool(delta.text)
                    self.emit(NoticeGiven(text=delta.text, key="model"))

        return hear, seam

    def _show(self, text: str) -> None:
        self.partial += text
        self.emit(TextStreamed(text=text))

    def _start_over(self) -> None:
        self.partial = ""
        self.emit(StepStarted(number=self.step()))  # views take back what they show of it

    # Ceilings

    async def _limit(
        self,
        model: Model,
        messages: Sequence[Message],
        tools: Sequence[Any],
        *,
        is_last: bool,
    ) -> int:
        if not self.spending.ceilings:
            return UNBOUNDED
        if self.spending.ceilings.max_cost and model.price is None:
            await _learn(model)
            if model.price is None:
                raise ConfigurationError(
                    f"a ceiling for the cost cannot be kept: nobody says what {model.name!r} "
                    "costs. Name its price under prices: in config.yaml, or set a ceiling for "
                    "tokens"
                )
        limit = self.spending.answer_limit(messages, tools, model.price, is_last=is_last)
        if not limit:
            raise CeilingReached(self.spending.passed())
        return limit

    def _count_lost(self, messages: Sequence[Message], tools: Sequence[Any]) -> None:
        """A call that broke in the middle is paid for, although nobody says how much it was."""
        if self.spending.ceilings and self.partial:
            read = self.spending.expected(messages, tools)
            lost = Usage(prompt_tokens=read, completion_tokens=len(self.partial) // 3)
            price = self.model.price
            self.spending.add(replace(lost, cost=price.of(lost) if price else 0.0))

    # Failures

    async def _remedy(self, error: ModelError, tries: _Tries) -> None:
        """Do something about it; raise it if nothing can be done."""
        tries.failed += 1
        for remedy in REMEDIES[error.kind]:
            if await self._helps(remedy, error, tries):
                return
        raise error

    async def _helps(self, remedy: Remedy, error: ModelError, tries: _Tries) -> bool:
        match remedy:
            case "wait":
                return await self._wait(error, tries.failed)
            case "compact":
                return await self._shorten(error, tries)
            case "drop_images":
                return self._drop_images(error)
            case "fall_back":
                return self._fall_back(error, tries)

    async def _wait(self, error: ModelError, failed: int) -> bool:
        if failed >= self.patience.tries:
            return False
        backoff = min(self.patience.base * 2 ** (failed - 1), MAX_BACKOFF)
        asked = error.retry_after
        seconds = random.uniform(0.5, 1.0) * backoff if asked is None else asked
        if seconds > (IMPATIENT if self._has_another() else MAX_WAIT):
            return False
        if error.kind == "broken" and failed == 1:
            seconds = 0.0  # the server was there a moment ago
        self.emit(
            RetryPlanned(
                reason=str(error), seconds=seconds, number=failed + 1, tries=self.patience.tries
            )
        )
        await asyncio.sleep(seconds)
        return True

    async def _shorten(self, error: ModelError, tries: _Tries) -> bool:
        if self.compact is None or tries.compactions >= MAX_COMPACTIONS:
            return False
        tries.compactions += 1
        return await self.compact(error)

    def _drop_images(self, error: ModelError) -> bool:
        drop = getattr(self.model, "drop_images", None)
        if drop is None or not drop():
            return False
        self._tell(f"{error}; going on without them")
        return True

    def _has_another(self) -> bool:
        return self._next < len(self.fallbacks)

    def _fall_back(self, error: ModelError, tries: _Tries) -> bool:
        while self._has_another():
            opened = self.fallbacks[self._next]
            self._next += 1
            try:
                model = opened()
            except HermesError as failure:
                self._tell(f"a fallback model cannot be used: {failure}")
                continue
            self._tell(f"{error}; going on with {model.name or 'the next model'}")
            self.model = model
            tries.failed = 0
            return True
        return False

    def _tell(self, text: str) -> None:
        self.emit(NoticeGiven(text=text, level="warning"))

    def _settled(self) -> None:
        """The answer is there: nothing has to be waited for."""
        if self._noticed:
            self._noticed = False
            self.emit(NoticeGiven(text="", key="model"))


async def _learn(model: Model) -> None:
    try:
        await model.learn()
    except ModelError:
        return  # the call itself will say what is wrong, or the ceiling that no price is known


def _resumption(text: str, model: Model) -> list[Message]:
    """What makes a model go on behind ``text``."""
    if not text:
        return []
    begun: Message = {"role": "assistant", "content": text}
    if model.prefills:
        return [{**begun, "unfinished": True}]
    return [begun, {"role": "user", "content": GO_ON.format(anchor=anchor_of(text))}]


def _goes_on(reply: Reply, said: _Said) -> bool:
    """Was a text cut at the longest length of an answer, and may it be gone on with?"""
    is_text = reply.finish == "length" and not reply.calls and bool(reply.text.strip())
    return is_text and said.continuations < MAX_CONTINUATIONS


def _whole(reply: Reply, said: _Said) -> Reply:
    return replace(reply, text=said.text, reasoning=said.reasoning, usage=said.usage)
