"""A loop for callers that cannot await, and threads for tools that block.

Two things live as long as the process. One daemon thread runs *the persistent loop*: every
coroutine that a synchronous caller waits for runs there, so that the async clients a tool keeps
between calls always meet the loop that made them. And up to 16 daemon threads run the tools that
block. Daemon threads of our own, because those of ``concurrent.futures`` are joined at exit: one
stuck tool would keep the process from ending. ``asyncio`` itself is never patched.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

TOOL_THREADS = 16

_persistent_loop_waits = contextvars.ContextVar("_persistent_loop_waits", default=False)
"""True in all that is done for a caller who blocks the persistent loop until it is done."""

_in_tool_thread = contextvars.ContextVar("_in_tool_thread", default=False)
"""True in all that is done for a job of a tool thread."""


class ToolAborted(RuntimeError):
    """A tool tried to end its thread or the process, as ``sys.exit()`` does. It just failed."""


def _aborted(error: BaseException) -> ToolAborted:
    aborted = ToolAborted(f"{type(error).__name__}: {error}".rstrip(": "))
    aborted.__cause__ = error
    return aborted


async def _contained(awaitable: Awaitable[T]) -> T:
    try:
        return await awaitable
    except (KeyboardInterrupt, SystemExit) as error:  # asyncio would end the loop and its thread
        raise _aborted(error) from error


def _settle(task: asyncio.Task[T], future: Future[T]) -> None:
    if task.cancelled():
        future.cancel()
    if not future.set_running_or_notify_cancel():
        return
    failure = task.exception()
    if failure is None:
        future.set_result(task.result())
    else:
        future.set_exception(failure)


class LoopThread:
    """A daemon thread that runs one event loop until it is retired."""

    def __init__(self, name: str = "hermes-loop") -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, awaitable: Awaitable[T]) -> Future[T]:
        """Run ``awaitable`` as a task of this loop, in a copy of the caller's context.

        Cancelling the future cancels the task.
        """
        future: Future[T] = Future()
        self.loop.call_soon_threadsafe(self._begin, awaitable, future)
        return future

    def run(self, awaitable: Awaitable[T]) -> T:
        """Run ``awaitable`` here and wait for it; an interrupt of the wait cancels it."""
        future: Future[T] = Future()
        try:  # an interrupt may come as soon as the task has begun, so this is not submit()
            self.loop.call_soon_threadsafe(self._begin, awaitable, future)
            return future.result()
        except BaseException:
            future.cancel()  # does nothing when the error is the awaitable's own
            raise

    def responsive(self, within: float = 1.0) -> bool:
        """Whether the loop answers within so many seconds; not when a tool blocks it."""
        if self.is_current():
            return True
        answered = threading.Event()
        self.loop.call_soon_threadsafe(answered.set)
        return answered.wait(within)

    def is_current(self) -> bool:
        """Whether the caller is on this thread."""
        return self._thread.ident == threading.get_ident()

    def is_alive(self) -> bool:
        """Whether the thread runs. It does not in a forked child, or once retired."""
        return self._thread.is_alive()

    def retire(self) -> None:
        """End the thread as soon as its tasks are done. Returns at once."""
        self.submit(self._finish())

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def _begin(self, awaitable: Awaitable[T], future: Future[T]) -> None:
        task = self.loop.create_task(_contained(awaitable))
        task.add_done_callback(lambda _: _settle(task, future))
        future.add_done_callback(lambda _: self._end(task))

    def _end(self, task: asyncio.Task[Any]) -> None:
        if not task.done():
            self.loop.call_soon_threadsafe(task.cancel)

    async def _finish(self) -> None:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        await self.loop.shutdown_asyncgens()
        self.loop.stop()


_persistent: LoopThread | None = None
_persistent_lock = threading.Lock()


def loop_thread() -> LoopThread:
    """The persistent loop of this process, started at first use."""
    global _persistent
    if _persistent is not None and _persistent.is_alive():
        return _persistent
    with _persistent_lock:
        if _persistent is None or not _persistent.is_alive():
            _persistent = LoopThread()
        return _persistent


def on_persistent_loop() -> bool:
    """Whether the caller is on the persistent loop's thread, where nothing may wait."""
    return _persistent is not None and _persistent.is_current()


def healthy_loop_thread(within: float = 1.0) -> LoopThread:
    """The persistent loop, replaced by a new one if it does not answer within so many seconds.

    The old one goes on for those who wait for it, and ends after them.
    """
    global _persistent
    stuck = loop_thread()
    if stuck.responsive(within):
        return stuck
    with _persistent_lock:
        if _persistent is stuck:
            logger.warning("An async tool blocks the loop of all tools; a new loop takes over.")
            _persistent = LoopThread()
            stuck.retire()
    return loop_thread()


def run_async(awaitable: Awaitable[T]) -> T:
    """Wait for a coroutine, in any thread. Never make a loop for it if that can be helped.

    - Where a loop is running (a notebook cell, a server), the persistent loop runs it, and the
      caller's loop stands still meanwhile: inside a coroutine, prefer ``await``.
    - In a worker thread, and in a plain main thread, the persistent loop runs it as well.
    - On the persistent loop, waiting for that very loop would last for ever. So this one
      coroutine, and what it calls in turn, gets a loop and a thread of its own.
    """
    persistent = loop_thread()
    if persistent.is_current() or _persistent_loop_waits.get():
        return _run_beside(awaitable)
    return persistent.run(awaitable)


def _run_beside(awaitable: Awaitable[T]) -> T:
    beside = LoopThread("hermes-loop-beside")
    context = contextvars.copy_context()
    context.run(_persistent_loop_waits.set, True)
    try:
        return context.run(beside.run, awaitable)
    finally:
        beside.retire()


def _is_plain(error: BaseException) -> bool:
    """Whether a future may carry it without meaning something else, or ending a loop."""
    return isinstance(error, Exception) and not isinstance(error, StopIteration)


class _Job:
    """A function on its way through a tool thread. ``state`` is guarded by the pool's lock."""

    __slots__ = ("answer", "context", "function", "loop", "state")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.context = contextvars.copy_context()
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()
        self.state = "waiting"  # then running, then done; abandoned from any of the first two

    def call(self) -> tuple[Any, BaseException | None]:
        """Call the function; its result, or what went wrong."""
        try:
            return self.context.run(self._call), None
        except BaseException as error:  # noqa: BLE001 - the awaiter raises it
            return None, error if _is_plain(error) else _aborted(error)

    def _call(self) -> Any:
        _in_tool_thread.set(True)
        return self.function()

    def deliver(self, result: Any, failure: BaseException | None) -> None:
        """Bring the outcome to the loop that awaits it."""
        try:
            self.loop.call_soon_threadsafe(self._settle, result, failure)
        except RuntimeError:  # the loop was closed meanwhile: nobody is left to tell
            logger.debug("nobody waits for the end of %r", self.function, exc_info=failure)

    def _settle(self, result: Any, failure: BaseException | None) -> None:
        if self.answer.done():
            logger.debug("nobody waits for the end of %r", self.function, exc_info=failure)
        elif failure is not None:
            self.answer.set_exception(failure)
        else:
            self.answer.set_result(result)


class ToolThreads:
    """A pool of at most ``limit`` daemon threads, started on demand and reused.

    A job whose awaiter was cancelled runs on, but no longer counts: its thread is replaced at
    once and ends with the job. A job started from within a job may go beyond the limit, since
    the outer one waits for it.
    """

    def __init__(self, limit: int = TOOL_THREADS) -> None:
        self.limit = limit
        self._lock = threading.Lock()  # guards the next three, and the state of every job
        self._backlog: deque[_Job] = deque()
        self._threads = 0
        self._idle = 0
        self._next: queue.SimpleQueue[_Job] = queue.SimpleQueue()  # never more than idle threads

    async def run(self, function: Callable[[], T]) -> T:
        """Call ``function`` in a thread of the pool, in a copy of the caller's context."""
        job = _Job(function)
        self._place(job)
        try:
            result: T = await job.answer
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        return result

    def _place(self, job: _Job) -> None:
        with self._lock:
            if self._idle:
                self._idle -= 1
                self._next.put(job)
            elif self._threads < self.limit or job.context.get(_in_tool_thread, False):
                self._start_thread(job)
            else:
                self._backlog.append(job)

    def _start_thread(self, job: _Job) -> None:
        threading.Thread(target=self._work, name="hermes-tool", daemon=True).start()
        self._threads += 1
        self._next.put(job)

    def _work(self) -> None:
        while self._run_one(self._next.get()):
            pass

    def _run_one(self, job: _Job) -> bool:
        """Run the job; whether the thread shall take another one."""
        with self._lock:
            if wanted := job.state == "waiting":
                job.state = "running"
        outcome = job.call() if wanted else (None, None)
        with self._lock:
            abandoned = wanted and job.state == "abandoned"
            job.state = "done"
            stays = not abandoned and self._make_free()
        job.deliver(*outcome)  # last, so that the thread is free for what the awaiter does next
        return stays

    def _make_free(self) -> bool:
        if self._backlog:
            self._next.put(self._backlog.popleft())
        elif self._threads > self.limit:
            self._threads -= 1
            return False
        else:
            self._idle += 1
        return True

    def _abandon(self, job: _Job) -> None:
        with self._lock:
            if job.state == "done":
                return
            was_running, job.state = job.state == "running", "abandoned"
            if was_running:
                self._threads -= 1
                if self._backlog and self._threads < self.limit:
                    self._start_thread(self._backlog.popleft())


_tool_threads = ToolThreads()


async def in_tool_thread(function: Callable[[], T]) -> T:
    """Call a function that may block in one of the shared tool threads, and await its result.

    Raises what the function raises; `ToolAborted` for ``SystemExit`` and the like.
    """
    return await _tool_threads.run(function)


def _forget_threads() -> None:
    """A forked child has none of its parent's threads, and perhaps their locks."""
    global _persistent, _persistent_lock, _tool_threads
    _persistent, _persistent_lock, _tool_threads = None, threading.Lock(), ToolThreads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
