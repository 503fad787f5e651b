import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes_jupyter.road.deadlines import Deadlines, Flag, ends_within

ROOT = Path(__file__).resolve().parents[3]


def test_a_flag_wakes_those_who_wait_for_it():
    flag, woken = Flag(), threading.Event()
    threading.Thread(target=lambda: flag.wait(10) and woken.set()).start()
    assert not flag.is_set()
    flag.set()
    assert woken.wait(5)


def test_a_flag_that_is_set_already_keeps_nobody_waiting():
    flag = Flag()
    flag.set()
    assert flag.wait(0)
    assert flag.is_set()


@pytest.mark.parametrize("before", [True, False])
def test_a_flag_tells_one_who_cannot_wait_for_it(before):
    flag, told = Flag(), []
    if before:
        flag.set()
    flag.when_set(lambda: told.append(flag.is_set()))
    flag.set() if not before else None
    assert told == [True]


def test_a_flag_nobody_sets_is_waited_for_no_longer_than_asked():
    assert not Flag().wait(0.01)


def test_a_flag_is_raised_at_its_deadline_and_not_before():
    deadlines, early, late = Deadlines(), Flag(), Flag()
    deadlines.add(late, 60)
    deadlines.add(early, 0.05)
    assert early.wait(5)
    assert not late.is_set()
    assert deadlines.remove(late)
    assert not deadlines.remove(early)


def test_ten_thousand_deadlines_are_one_thread_and_leave_nothing_behind():
    deadlines, before = Deadlines(), threading.active_count()
    for _ in range(10_000):
        flag = Flag()
        deadlines.add(flag, 60)
        deadlines.remove(flag)
    assert threading.active_count() <= before + 1
    assert not deadlines._flags


def test_a_task_that_takes_longer_is_left_running():
    async def main():
        task = asyncio.create_task(asyncio.sleep(30))
        began = time.monotonic()
        assert not await ends_within(task, 0.02)
        assert time.monotonic() - began < 5
        assert not task.cancelled()
        task.cancel()
        assert await ends_within(task, 5)

    asyncio.run(main())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_keeps_deadlines_of_its_own():
    script = """
import os
from hermes_jupyter.road.deadlines import Deadlines, Flag

deadlines, flag = Deadlines(), Flag()
deadlines.add(flag, 0.01)
assert flag.wait(5)
child = os.fork()
if not child:
    own = Flag()
    deadlines.add(own, 0.01)
    os._exit(0 if own.wait(5) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=20, check=True)
