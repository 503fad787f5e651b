"""Coroutines for callers that cannot await, threads for tools that block."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import threading
from concurrent.futures import CancelledError

import pytest

from tools import async_bridge
from tools.async_bridge import LoopThread, ToolAborted, ToolThreads, loop_thread, run_async

colour = contextvars.ContextVar("colour", default="none")


async def current_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def current_colour() -> str:
    return colour.get()


async def leave() -> None:
    raise SystemExit(3)


async def fail() -> None:
    raise KeyError("no such thing")


def test_coroutine_gets_an_answer_wherever_it_is_waited_for(call_from):
    assert call_from(lambda: run_async(asyncio.sleep(0, "answer"))) == "answer"


def test_its_error_is_raised_wherever_it_is_waited_for(call_from):
    with pytest.raises(KeyError, match="no such thing"):
        call_from(lambda: run_async(fail()))


def test_context_of_the_caller_is_seen_by_the_coroutine(call_from):
    def ask():
        colour.set("green")
        return run_async(current_colour())

    assert contextvars.copy_context().run(call_from, ask) == "green"


def test_all_callers_share_the_persistent_loop():
    async def from_running_loop():
        return run_async(current_loop())

    loops = {run_async(current_loop()), run_async(current_loop()), asyncio.run(from_running_loop())}
    assert loops == {loop_thread().loop}


def test_coroutine_on_the_persistent_loop_may_wait_for_many_levels_more():
    async def descend(levels):
        return run_async(descend(levels - 1)) if levels else "bottom"

    assert run_async(descend(4)) == "bottom"


def test_thread_that_works_for_a_blocked_persistent_loop_does_not_wait_for_it():
    async def outer():
        return run_async(middle())

    async def middle():
        return await async_bridge.in_tool_thread(lambda: run_async(asyncio.sleep(0, "inner")))

    assert run_async(outer()) == "inner"


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_interrupt_while_waiting_cancels_the_coroutine():
    cancelled = threading.Event()

    async def endless():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(KeyboardInterrupt):
        run_async(endless())
    assert cancelled.wait(5)


def test_sys_exit_in_a_coroutine_does_not_end_the_loop():
    with pytest.raises(ToolAborted, match="SystemExit: 3"):
        run_async(leave())
    assert run_async(asyncio.sleep(0, "alive")) == "alive"


def test_cancelling_a_submitted_future_cancels_its_task():
    started, ended = threading.Event(), threading.Event()

    async def endless():
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    future = loop_thread().submit(endless())
    assert started.wait(5)
    future.cancel()
    assert ended.wait(5)
    with pytest.raises(CancelledError):
        future.result()


def test_retired_loop_ends_its_thread_after_its_tasks():
    beside = LoopThread("beside")
    may_end = threading.Event()
    future = beside.submit(async_bridge.in_tool_thread(may_end.wait))
    beside.retire()
    may_end.set()
    assert future.result(5)
    beside._thread.join(5)
    assert not beside.is_alive()
    assert beside.loop.is_closed()


def test_blocked_loop_is_replaced_when_health_is_asked_for():
    blocked, may_end = threading.Event(), threading.Event()

    async def block():
        blocked.set()
        may_end.wait(10)
        return "done after all"

    stuck = loop_thread()
    future = stuck.submit(block())
    assert blocked.wait(5)
    healthy = async_bridge.healthy_loop_thread(within=0.02)
    assert healthy is not stuck
    assert healthy is loop_thread()
    assert run_async(asyncio.sleep(0, "works")) == "works"
    may_end.set()
    assert future.result(5) == "done after all"
    stuck._thread.join(5)
    assert not stuck.is_alive()


def test_healthy_loop_is_kept():
    assert async_bridge.healthy_loop_thread() is loop_thread()


def test_job_in_a_tool_thread_sees_the_callers_context_and_keeps_its_own_changes():
    def paint():
        before = colour.get()
        colour.set("red")
        return before

    async def main():
        colour.set("blue")
        return await async_bridge.in_tool_thread(paint), colour.get()

    assert asyncio.run(main()) == ("blue", "blue")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit])
def test_job_that_wants_to_end_its_thread_merely_fails(kind):
    def leave():
        raise kind("now")

    async def main():
        with pytest.raises(ToolAborted, match=f"{kind.__name__}: now"):
            await pool.run(leave)
        return await pool.run(lambda: "alive")

    pool = ToolThreads(limit=1)
    assert asyncio.run(main()) == "alive"


def test_cancelled_error_of_a_job_does_not_pass_for_a_cancelled_caller():
    def give_up():
        raise asyncio.CancelledError

    async def main():
        with pytest.raises(ToolAborted):
            await async_bridge.in_tool_thread(give_up)

    asyncio.run(main())


def test_many_batches_do_not_grow_the_number_of_threads():
    async def main():
        for _ in range(125):
            await asyncio.gather(*(async_bridge.in_tool_thread(int) for _ in range(8)))

    before = threading.active_count()
    asyncio.run(main())
    assert threading.active_count() <= before + async_bridge.TOOL_THREADS


def test_one_caller_after_the_other_needs_one_thread():
    async def main():
        return {await pool.run(threading.get_ident) for _ in range(100)}

    pool = ToolThreads()
    assert len(asyncio.run(main())) == 1


def test_eight_jobs_run_side_by_side():
    async def main():
        meeting = threading.Barrier(8)  # opens only when all eight are there
        await asyncio.gather(*(pool.run(lambda: meeting.wait(5)) for _ in range(8)))

    pool = ToolThreads()
    asyncio.run(main())


def test_jobs_beyond_the_limit_wait_their_turn():
    running, most = 0, 0
    lock = threading.Lock()

    def count():
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        meeting.wait(5)  # opens only for three at once
        with lock:
            running -= 1

    async def main():
        await asyncio.gather(*(pool.run(count) for _ in range(48)))

    meeting = threading.Barrier(3)
    pool = ToolThreads(limit=3)
    asyncio.run(main())
    assert most == 3


def test_stuck_jobs_that_were_cancelled_do_not_block_the_pool():
    may_end = threading.Event()
    threads = []

    def stick():
        threads.append(threading.current_thread())
        started.release()
        may_end.wait(10)

    async def main():
        stuck = [asyncio.create_task(pool.run(stick)) for _ in range(3)]
        for _ in range(2):
            await asyncio.get_running_loop().run_in_executor(None, started.acquire)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        return await asyncio.gather(pool.run(lambda: "first"), pool.run(lambda: "second"))

    started = threading.Semaphore(0)
    pool = ToolThreads(limit=2)
    try:
        assert asyncio.run(main()) == ["first", "second"]
    finally:
        may_end.set()
    assert len(threads) == 2, "the third one was cancelled before it began"
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def test_waiting_job_takes_the_place_of_a_cancelled_one():
    may_end, started = threading.Event(), threading.Event()

    def stick():
        started.set()
        may_end.wait(10)

    async def main():
        stuck = asyncio.create_task(pool.run(stick))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(pool.run(lambda: "its turn"))
        await asyncio.get_running_loop().run_in_executor(None, started.wait)
        stuck.cancel()
        return await waiting

    pool = ToolThreads(limit=1)
    try:
        assert asyncio.run(main()) == "its turn"
    finally:
        may_end.set()


def test_job_within_a_job_does_not_wait_for_its_own_thread():
    def outer():
        return run_async(pool.run(lambda: "inner"))

    async def main():
        return await pool.run(outer), await pool.run(outer)

    pool = ToolThreads(limit=1)
    assert asyncio.run(main()) == ("inner", "inner")
    assert pool._threads == 1


def test_end_of_a_job_whose_loop_is_gone_is_ignored():
    started, may_end = threading.Event(), threading.Event()
    thread = None

    def late():
        nonlocal thread
        thread = threading.current_thread()
        started.set()
        may_end.wait(10)

    async def main():
        task = asyncio.create_task(pool.run(late))
        await asyncio.get_running_loop().run_in_executor(None, started.wait)
        task.cancel()

    pool = ToolThreads(limit=1)
    asyncio.run(main())
    may_end.set()
    thread.join(5)
    assert not thread.is_alive()
    assert asyncio.run(pool.run(lambda: "alive")) == "alive"


@pytest.mark.parametrize(
    "stuck",
    [
        "loop_thread().submit(in_tool_thread(lambda: time.sleep(60)))",
        "loop_thread().submit(asyncio.sleep(60))",
        "loop_thread().submit(block())",
    ],
    ids=["tool thread", "coroutine", "blocked loop"],
)
def test_process_exits_at_once_in_spite_of_something_stuck(run_script, stuck):
    output, errors, seconds = run_script(
        "import asyncio, time\n"
        "from tools.async_bridge import *\n"
        "from tools.async_bridge import run_async\n"
        "async def block(): time.sleep(60)\n"
        "run_async(asyncio.sleep(0))\n"
        f"{stuck}\n"
        "print('end')\n"
    )
    assert (output, errors) == ("end\n", "")
    assert seconds < 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_has_a_loop_and_threads_of_its_own(run_script):
    output, errors, _ = run_script(
        "import asyncio, os, warnings\n"
        "from tools.async_bridge import run_async, in_tool_thread\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "run_async(in_tool_thread(int))\n"
        "if pid := os.fork():\n"
        "    print(os.waitpid(pid, 0)[1])\n"
        "else:\n"
        "    os._exit(run_async(in_tool_thread(lambda: 0)))\n"
    )
    assert (output, errors) == ("0\n", "")


def test_a_users_nest_asyncio_does_not_break_the_bridge(run_script):
    output, errors, _ = run_script(
        "import asyncio, nest_asyncio2\n"
        "from tools.async_bridge import run_async, in_tool_thread\n"
        "nest_asyncio2.apply()\n"
        "async def nested(): return run_async(asyncio.sleep(0.01, 'nested'))\n"
        "async def main():\n"
        "    return run_async(nested()), await in_tool_thread(lambda: run_async(nested()))\n"
        "print(asyncio.run(main()))\n"
    )
    assert (output, errors) == ("('nested', 'nested')\n", "")
