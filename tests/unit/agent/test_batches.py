"""Running batches on the road, with the agent's own loop and tool threads."""

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from hermes_jupyter.agent.batches import MAX_PARALLEL, Interrupted, run_batch
from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import BatchStarted, ToolCallFinished, ToolOutputStreamed
from hermes_jupyter.road.running import THREADS

DESCRIPTORS = Path("/proc/self/fd")


def calls(name, count):
    return [ToolCall(id=str(number), name=name) for number in range(count)]


def run(turn, batch):
    return asyncio.run(run_batch(batch, turn.road().run, turn.emit))


def test_results_come_in_the_order_of_the_calls_whoever_ends_first(turn):
    turn.tool("nap", lambda args, **_: time.sleep(args["seconds"]) or "ok", effects="read")
    batch = [ToolCall(id=str(s), name="nap", args={"seconds": s}) for s in (0.2, 0.0)]
    assert [result.call.id for result in run(turn, batch)] == ["0.2", "0.0"]
    assert [event.result.call.id for event in turn.of(ToolCallFinished)] == ["0.0", "0.2"]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_eight_tools_run_side_by_side(turn, kind):
    async def async_nap(args, **_):
        await asyncio.sleep(0.1)
        return "ok"

    turn.tool("sync", lambda args, **_: time.sleep(0.1) or "ok")
    turn.tool("async", async_nap)
    began = time.monotonic()
    run(turn, calls(kind, 8))
    assert time.monotonic() - began < 0.4  # in turn they would need 0.8


def test_of_a_large_batch_at_most_eight_take_a_thread_at_once(turn):
    running, most = set(), []
    eight = threading.Barrier(THREADS)  # opens only when so many are there

    def meet(args, **context):
        running.add(context["tool_call_id"])
        most.append(len(running))
        eight.wait(5)
        running.discard(context["tool_call_id"])
        return "ok"

    turn.tool("meet", meet)
    results = run(turn, calls("meet", 3 * THREADS))
    assert {result.status for result in results} == {"ok"}
    assert max(most) == THREADS
    assert len(turn.of(BatchStarted)) == 1


def test_of_a_large_batch_sixteen_run_at_once_that_need_no_thread(turn):
    running, most = set(), []

    async def meet(args, **context):
        running.add(context["tool_call_id"])
        most.append(len(running))
        await asyncio.sleep(0.02)
        running.discard(context["tool_call_id"])
        return "ok"

    turn.tool("meet", meet)
    run(turn, calls("meet", 3 * MAX_PARALLEL))
    assert max(most) == MAX_PARALLEL


def test_interrupt_gives_every_call_a_result_also_those_that_waited_for_room(turn):
    started = threading.Event()

    def hang(args, **context):
        started.set()
        context["cancelled"].wait(5)
        return "ok"

    async def interrupted():
        batch = calls("hang", MAX_PARALLEL + 2)
        task = asyncio.create_task(run_batch(batch, turn.road().run, turn.emit))
        await asyncio.to_thread(started.wait, 5)
        task.cancel()
        with pytest.raises(Interrupted) as caught:
            await task
        return caught.value.results

    turn.tool("hang", hang)
    results = asyncio.run(interrupted())
    assert [result.call.id for result in results] == [str(n) for n in range(MAX_PARALLEL + 2)]
    assert {result.status for result in results} == {"interrupted"}


def test_a_thousand_batches_leave_no_thread_and_no_descriptor_behind(turn):
    async def at_once(args, **_):
        return "ok"

    async def many(count):
        road = turn.road()
        for _ in range(count):
            await run_batch([*calls("sync", 4), *calls("async", 4)], road.run, turn.emit)
            turn.events.clear()

    def held():
        names = [*DESCRIPTORS.iterdir()] if DESCRIPTORS.is_dir() else []
        return threading.active_count(), len(names)

    turn.tool("sync", lambda args, **_: "ok")
    turn.tool("async", at_once)
    asyncio.run(many(10))  # the tool threads are there now, and stay
    before = held()
    asyncio.run(many(1_000))
    after = held()
    assert after[0] <= before[0] + MAX_PARALLEL  # a moment's need of one more thread is no leak
    assert after[1] <= before[1]


def test_what_a_tool_still_comes_to_say_when_it_is_interrupted_is_kept(turn):
    def patient(args, *, cancelled, on_output, **_):
        on_output("working")
        return "the half of it" if cancelled.wait(30) else "x"

    turn.tool("patient", patient)

    async def main():
        printed, emit = asyncio.Event(), turn.emit
        turn.emit = lambda e: printed.set() if isinstance(e, ToolOutputStreamed) else emit(e)
        batch = [ToolCall(id="1", name="patient")]
        task = asyncio.create_task(run_batch(batch, turn.road().run, turn.emit))
        await printed.wait()
        task.cancel()
        with pytest.raises(Interrupted) as stop:
            await task
        return stop.value.results

    (result,) = asyncio.run(main())
    told = json.loads(result.text)
    assert (result.status, told["partial_result"]) == ("interrupted", "the half of it")
    assert "partial_output" not in told
