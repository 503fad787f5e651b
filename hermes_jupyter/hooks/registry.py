"""Who listens to which hook, and how they are called: in a thread or awaited, and not for ever.

Those that only listen are told behind the turn's back, in order, so a slow one keeps nobody. Those
whose answer matters are waited for, each for a bounded time. One that fails is left out, and said
to have failed once.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from hermes_jupyter.hooks.payloads import HOOKS, Payload
from tools.async_bridge import in_tool_thread, loop_thread

logger = logging.getLogger(__name__)

Hook = Callable[..., Any]
NAMES = {kind: name for name, kind in HOOKS.items()}
TIMEOUT = 5.0
MOST_TIMEOUTS = 3
"""One that was too slow so often is not called any more, unless it is a check."""
CHECK = "pre_tool_call"
MOST_WAITING = 10_000
"""Payloads for those who only listen; what comes while so many wait is lost."""


@dataclass(slots=True)
class Subscriber:
    """One function, and how often it was too slow."""

    name: str
    """Of the hook."""
    function: Hook
    takes_keywords: bool
    timeouts: int = 0
    has_failed: bool = False

    @property
    def label(self) -> str:
        """What a person knows it by."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def call(self, payload: Payload) -> Any:
        """Each gets a copy: to change it changes nothing."""
        own = copy.deepcopy(payload)
        if not self.takes_keywords:
            return self.function(own)
        return self.function(**{field.name: getattr(own, field.name) for field in fields(own)})


@dataclass(frozen=True, slots=True)
class Heard:
    """What one subscriber answered, or why there is no answer."""

    label: str
    answer: Any = None
    failure: str = ""


class Hooks:
    """The hooks of a kernel, in the order in which they came.

    Subscribe from any thread; all else happens on the agent's loop.

    Parameters
    ----------
    timeout
        Seconds that one may take; asked anew each time.
    """

    def __init__(self, timeout: Callable[[], float] = lambda: TIMEOUT) -> None:
        self.timeout = timeout
        self._lock = threading.Lock()  # guards the tuple
        self._subscribers: tuple[Subscriber, ...] = ()
        self._problems: deque[str] = deque()
        self._waiting: deque[Payload] = deque(maxlen=MOST_WAITING)
        self._telling: asyncio.Task[None] | None = None

    def on(self, name: str, function: Hook) -> Callable[[], None]:
        """Have ``function`` called with the hook's payload; the answer takes it out again.

        Raises
        ------
        ValueError
            For a name that is not called here.
        """
        self._add(Subscriber(_known(name), function, takes_keywords=False))
        return lambda: self.unregister(function, name)

    def register(self, name: str, hook: Hook) -> None:
        """The same for plugins of Hermes Agent, which get the fields as keywords.

        Raises
        ------
        ValueError
            For a name that is not called here.
        """
        self._add(Subscriber(_known(name), hook, takes_keywords=True))

    def unregister(self, hook: Hook, name: str = "") -> None:
        """Take a function out; of one hook, or of all."""
        with self._lock:
            self._subscribers = tuple(
                each
                for each in self._subscribers
                if each.function is not hook or (name and each.name != name)
            )

    def wants(self, name: str) -> bool:
        """Does anybody listen to it?"""
        return bool(self._subscribers) and any(each.name == name for each in self._subscribers)

    def __bool__(self) -> bool:
        return bool(self._subscribers)

    async def ask(self, payload: Payload) -> list[Heard]:
        """What all subscribers say to it, in their order."""
        name = NAMES[type(payload)]
        there = [each for each in self._subscribers if each.name == name]
        return [await self._ask(each, payload) for each in there]

    async def text(self, payload: Payload) -> str | None:
        """The first text that is answered; None if there is none."""
        found = None
        for heard in await self.ask(payload):
            if heard.answer is None:
                continue
            if not isinstance(heard.answer, str):
                self._report(f"the hook {heard.label} gave no text", NAMES[type(payload)])
            elif found is None:
                found = heard.answer
        return found

    def tell(self, payload: Payload) -> None:
        """Let those who listen hear of it, soon. On the agent's loop."""
        if not self.wants(NAMES[type(payload)]):
            return
        self._waiting.append(payload)
        loop = asyncio.get_running_loop()
        telling = self._telling
        if telling is None or telling.done() or telling.get_loop() is not loop:
            self._telling = loop.create_task(self._tell_all())

    def tell_soon(self, payload: Payload) -> None:
        """The same from any thread."""
        if self.wants(NAMES[type(payload)]):
            loop_thread().loop.call_soon_threadsafe(self.tell, payload)

    async def settle(self) -> None:
        """Wait until all have heard what was told, but no longer than one may take."""
        telling = self._telling
        if telling is not None and telling.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({telling}, timeout=self.timeout())

    def take_problems(self) -> list[str]:
        """What a person should hear of hooks that failed; each is told once."""
        told = [*self._problems]
        self._problems.clear()
        return told

    async def _tell_all(self) -> None:
        while self._waiting:
            await self.ask(self._waiting.popleft())

    def _add(self, subscriber: Subscriber) -> None:
        with self._lock:
            self._subscribers = (*self._subscribers, subscriber)

    async def _ask(self, who: Subscriber, payload: Payload) -> Heard:
        if who.timeouts >= MOST_TIMEOUTS and who.name != CHECK:
            return Heard(who.label, failure="is switched off")
        seconds = self.timeout()
        try:
            async with asyncio.timeout(seconds) as limit:
                return Heard(who.label, await _called(who, payload))
        except (Exception, SystemExit) as error:
            is_late = isinstance(error, TimeoutError) and limit.expired()
            how = f"took longer than {seconds:g} s" if is_late else _told(error)
            logger.warning("the hook %s %s", who.label, how, exc_info=not is_late)
            self._note(who, how, is_late=is_late)
            return Heard(who.label, failure=how)

    def _note(self, who: Subscriber, how: str, *, is_late: bool) -> None:
        if who.name == CHECK:  # its failure is the reason of a question
            return
        who.timeouts += is_late
        if who.timeouts == MOST_TIMEOUTS:
            self._report(f"the hook {who.label} is not called any more: it was too slow", who.name)
        elif not who.has_failed:
            self._report(f"the hook {who.label} {how}", who.name)
        who.has_failed = True

    def _report(self, problem: str, name: str) -> None:
        said = f"{problem} ({name})"
        if said not in self._problems:
            self._problems.append(said)


async def _called(who: Subscriber, payload: Payload) -> Any:
    if inspect.iscoroutinefunction(who.function):
        return await who.call(payload)
    said = await in_tool_thread(lambda: who.call(payload))
    return await said if inspect.iscoroutine(said) else said


def _told(error: BaseException) -> str:
    return f"failed ({type(error).__name__}: {error})"


def _known(name: str) -> str:
    if name not in HOOKS:
        raise ValueError(f"there is no hook {name!r} here; there are {', '.join(HOOKS)}")
    return name
