"""Run a coroutine of the agent for a cell, whatever loop is already running there.

Coroutines run on the one agent loop (`tools.async_bridge.loop_thread`). The calling thread
waits: in a kernel it pumps the `ShellGate`, elsewhere it waits on a queue. No loop is ever
re-entered and asyncio is not patched.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import itertools
import queue
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hermes_jupyter.errors import TurnCancelled, TurnInterrupted
from hermes_jupyter.kernel import switching
from hermes_jupyter.kernel.cell import Cell
from hermes_jupyter.kernel.gate import ShellGate
from hermes_jupyter.kernel.serving import Command
from hermes_jupyter.kernel.shell import GateUnavailable
from hermes_jupyter.kernel.waiting import Waiting
from tools.async_bridge import healthy_loop_thread

T = TypeVar("T")
PUMP_SECONDS = 0.25
GRACE_SECONDS = 0.25
"""How long an interrupted turn may take to end by itself."""


@dataclass(frozen=True)
class Run(Generic[T]):
    """A coroutine that runs on the agent loop."""

    future: concurrent.futures.Future[T]
    cancel: Callable[[], None]


def start(main: Callable[[], Awaitable[T]], on_done: Callable[[], None] = lambda: None) -> Run[T]:
    """Start ``main()`` on the agent loop and return at once.

    The context is copied here, in the cell's thread: it carries ipykernel's parent header, so
    what the turn and its tools print goes to this cell for good.
    """
    loop = healthy_loop_thread().loop
    context = contextvars.copy_context()
    outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
    tasks: list[asyncio.Task[None]] = []

    async def body() -> None:
        try:
            with switching.often():
                result = await main()
            outcome.set_result(result)
        except asyncio.CancelledError:
            outcome.set_exception(TurnInterrupted("the turn was stopped"))
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            outcome.set_exception(error)
        finally:
            on_done()

    loop.call_soon_threadsafe(lambda: tasks.append(loop.create_task(body(), context=context)))

    def cancel() -> None:
        loop.call_soon_threadsafe(lambda: tasks[0].cancel())

    return Run(outcome, cancel)


def run_in_cell(
    cell: Cell,
    main: Callable[[], Awaitable[T]],
    *,
    kernel: Any,
    owned: set[str],
    commands: dict[str, Command],
) -> T:
    """Run ``main()`` and wait for it, serving the cell's messages meanwhile.

    Raises
    ------
    TurnInterrupted
        When the person interrupts; the coroutine is cancelled first.
    """
    gate = _open_gate(cell, kernel, owned, commands)
    if gate is None:
        return _wait_on_queue(cell, main)
    cell.serve(gate.call_soon)
    cell.blocks_loop = True
    try:
        with gate.serving():
            return _attended(start(main, gate.wake), gate.pump)
    finally:
        cell.serve(None)


async def run_awaited(
    cell: Cell,
    main: Callable[[], Awaitable[T]],
    *,
    kernel: Any,
    owned: set[str],
    commands: dict[str, Command],
) -> T:
    """The same for ``await`` in a cell: the caller's loop runs on, the gate needs no pump.

    Raises
    ------
    TurnCancelled
        When the person interrupts or stops the turn.
    """
    loop = asyncio.get_running_loop()
    gate = _open_gate(cell, kernel, owned, commands)

    def post(job: Callable[[], None]) -> None:
        loop.call_soon_threadsafe(_run_interruptible, job)

    cell.serve(post)
    # ipykernel's interrupt does not wake a sleeping loop; without something that does, it is
    # heard only at the next unrelated event.
    ticker = asyncio.ensure_future(_tick(gate))
    run = start(main)
    ended = asyncio.wrap_future(run.future)
    ended.add_done_callback(lambda future: future.exception())  # seen, even if nobody waits
    try:
        with gate.serving(post) if gate is not None else nullcontext(), _sigint_cancels(run.cancel):
            await asyncio.wait({ended})
            return ended.result()
    except TurnInterrupted as stopped:
        raise TurnCancelled(str(stopped)) from None
    except asyncio.CancelledError:
        run.cancel()
        await asyncio.wait({ended}, timeout=GRACE_SECONDS)
        raise TurnCancelled("the turn was stopped") from None
    finally:
        ticker.cancel()
        cell.serve(None)


@contextmanager
def _sigint_cancels(cancel: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C cancel the turn where nothing else cancels tasks: in terminal IPython.

    Python's own handler raises in the middle of the loop and leaves its tasks waiting.
    """
    if not _is_heard_here() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda _number, _frame: cancel())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _run_interruptible(job: Callable[[], None]) -> None:
    """Run a job on the caller's loop. Ctrl-C ends it, then does what it does to the loop."""
    if not _is_heard_here():
        job()
        return
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupted = False
    try:
        job()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGINT, usual)
    if interrupted and callable(usual):
        usual(signal.SIGINT, None)


def _is_heard_here() -> bool:
    """Are signals handled in this thread?"""
    return threading.current_thread() is threading.main_thread()


async def _tick(gate: ShellGate | None) -> None:
    for _ in itertools.count():
        await asyncio.sleep(0.1)
        if gate is not None:
            gate.look_again()


def _open_gate(
    cell: Cell, kernel: Any, owned: set[str], commands: dict[str, Command]
) -> ShellGate | None:
    if kernel is None:
        return None
    try:
        return ShellGate(kernel, owned, commands, cell.page_came)
    except GateUnavailable:
        return None


def _wait_on_queue(cell: Cell, main: Callable[[], Awaitable[T]]) -> T:
    """Terminal IPython, plain Python, foreign kernels, and tools that start a turn themselves."""
    jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    outer = Waiting.innermost

    def pump(timeout: float) -> None:
        try:
            job = jobs.get(timeout=timeout)
        except queue.Empty:
            return
        job()

    cell.serve(outer.call_soon if outer else jobs.put)
    try:
        return _attended(start(main, lambda: jobs.put(lambda: None)), pump)
    finally:
        cell.serve(None)


def _attended(run: Run[T], pump: Callable[[float], None]) -> T:
    """Wait for a run; whatever ends the wait, the run does not go on unseen."""
    try:
        return _wait(run, pump)
    except BaseException:
        if not run.future.done():
            run.cancel()
        raise


def _wait(run: Run[T], pump: Callable[[float], None]) -> T:
    give_up: float | None = None
    while True:
        try:
            if run.future.done():
                return run.future.result()
            pump(PUMP_SECONDS if give_up is None else 0.02)
        except TurnInterrupted:  # the turn's own end, not a key press
            raise
        except KeyboardInterrupt:
            if give_up is not None:  # a second interrupt waits no longer
                give_up = 0.0
            else:
                run.cancel()
                give_up = time.monotonic() + GRACE_SECONDS
        if give_up is not None and time.monotonic() > give_up and not run.future.done():
            raise TurnInterrupted("the turn was stopped; a tool still runs in the background")
