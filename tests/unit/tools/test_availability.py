"""Whether a tool can work here and now."""

from __future__ import annotations

import gc
import os
import threading
import timeit
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools.async_bridge import loop_thread
from tools.availability import Availability, AvailabilityCache
from tools.entry import ToolEntry


def entry(check_fn):
    return ToolEntry(name="x", toolset="x", schema={}, handler=print, check_fn=check_fn)


class Clock:
    """Time that passes when told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Check:
    """A check that counts how often it is asked."""

    def __init__(self, says=True):
        self.says = says
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.says


@pytest.fixture
def clock():
    return Clock()


class Watched(AvailabilityCache):
    """Counts the answers that have come in."""

    def __init__(self, clock):
        self.learned = threading.Semaphore(0)
        super().__init__(clock, patience=5.0)

    def _learn(self, record, found):
        super()._learn(record, found)
        self.learned.release()

    def wait_for_answers(self, number=1):
        for _ in range(number):
            assert self.learned.acquire(timeout=5)


@pytest.fixture
def cache(clock):
    return Watched(clock)


@pytest.fixture
def hasty(clock):
    """A cache that hardly waits for a first answer."""
    made = Watched(clock)
    made._patience = 0.02
    return made


class Hanging(Check):
    """A check that does not end before it is let go."""

    def __init__(self, says=True):
        super().__init__(says)
        self.begun, self.may_end = threading.Semaphore(0), threading.Event()

    def __call__(self):
        self.begun.release()
        self.may_end.wait(10)
        return super().__call__()


def test_tool_without_a_check_is_available_whatever_it_requires(cache, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert cache.check(None, ["DATABASE_URL"]) == Availability(ok=True)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (True, Availability(ok=True)),
        ("/usr/bin/docker", Availability(ok=True)),
        ((True, "ignored"), Availability(ok=True)),
        ((False, "no daemon"), Availability(ok=False, reason="no daemon")),
        (
            Availability(ok=False, reason="no daemon", remedy="start it"),
            Availability(ok=False, reason="no daemon", remedy="start it"),
        ),
    ],
)
def test_check_may_answer_in_several_ways(cache, said, expected):
    assert cache.check(lambda: said) == expected


@pytest.mark.parametrize("said", [False, None, (False, ""), Availability(ok=False)])
def test_plain_no_names_the_variables_that_are_not_set(cache, monkeypatch, said):
    monkeypatch.setenv("DATABASE_USER", "ada")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    answer = cache.check(lambda: said, ["DATABASE_USER", "DATABASE_URL"])
    assert answer == Availability(False, "needs DATABASE_URL", "set DATABASE_URL")


def test_plain_no_without_a_missing_variable_names_the_check(cache):
    def docker_is_there():
        return False

    assert cache.check(docker_is_there).reason == "docker_is_there() said no"


@pytest.mark.parametrize("error", [OSError("socket is gone"), SystemExit("socket is gone")])
def test_check_that_raises_means_no_and_says_why(cache, error):
    def check():
        raise error

    answer = cache.check(check)
    assert not answer.ok
    assert answer.reason == f"its check failed: {type(error).__name__}: socket is gone"


def test_coroutine_function_is_refused_as_a_check(cache):
    async def check():
        return True

    assert "plain function" in cache.check(check).reason


def test_answer_is_kept_for_thirty_seconds_and_then_asked_for_anew_behind_it(cache, clock):
    check = Check()
    assert cache.check(check).ok
    cache.wait_for_answers()
    check.says = False
    clock.now += 29
    assert (cache.check(check).ok, check.asked) == (True, 1)
    clock.now += 60
    assert cache.check(check).ok
    cache.wait_for_answers()
    assert (cache.check(check).ok, check.asked) == (False, 2)


def test_failure_soon_after_a_success_is_a_flicker_and_asked_about_again_soon(cache, clock):
    check = Check()
    cache.check(check)
    cache.wait_for_answers()
    check.says = False
    for seconds, ok in [(31, True), (6, True), (6, True), (18, False)]:
        clock.now += seconds
        cache.check(check)
        cache.wait_for_answers()
        assert cache.check(check).ok is ok
    assert check.asked == 5
    assert cache.version == 1


def test_nobody_waits_while_an_old_answer_is_asked_for_anew(cache, clock):
    check = Hanging()
    check.may_end.set()
    cache.check(check)
    cache.wait_for_answers()
    check.may_end.clear()
    clock.now += 31
    assert [cache.check(check).ok for _ in range(3)] == [True] * 3
    assert check.asked == 1
    check.may_end.set()
    cache.wait_for_answers()
    assert check.asked == 2


def test_check_runs_in_a_thread_of_the_background(cache):
    threads = []
    cache.check(lambda: threads.append(threading.current_thread()) or True)
    assert threads[0] is not threading.current_thread()
    assert threads[0].daemon


def test_first_answer_is_not_waited_for_longer_than_patience_and_used_when_it_comes(hasty):
    check = Hanging()
    answer = hasty.check(check)
    assert answer == Availability(False, "its check takes longer than 5 s")
    before = hasty.stamp()
    check.may_end.set()
    hasty.wait_for_answers()
    assert hasty.check(check).ok
    assert (hasty.stamp(), check.asked) == (before + 1, 1)


def test_first_answers_of_many_are_waited_for_together(cache):
    meeting = threading.Barrier(4, timeout=5)
    entries = [entry(lambda: meeting.wait() >= 0) for _ in range(4)]
    assert [found.ok for found in cache.check_all([*entries, entry(None)])] == [True] * 5


def test_the_agents_loop_waits_for_no_check(cache):
    check = Hanging()

    async def on_the_loop():
        return cache.check(check)

    assert loop_thread().run(on_the_loop()).reason == "its check has not answered yet"
    before = cache.stamp()
    check.may_end.set()
    cache.wait_for_answers()
    assert loop_thread().run(on_the_loop()).ok
    assert cache.stamp() == before + 1


def test_stamp_changes_only_with_an_answer(cache, clock):
    check = Check()
    assert cache.stamp() == 0
    cache.check(check)
    cache.wait_for_answers()
    assert cache.stamp() == 0
    clock.now += 31
    assert cache.stamp() == 0  # and asks
    cache.wait_for_answers()
    assert (cache.stamp(), check.asked) == (0, 2)
    check.says = False
    clock.now += 61
    cache.stamp()
    cache.wait_for_answers()
    assert (cache.stamp(), check.asked) == (1, 3)


def test_stamp_costs_next_to_nothing():
    cache = AvailabilityCache()
    checks = [Check() for _ in range(100)]
    for check in checks:
        cache.check(check)
    assert min(timeit.repeat(cache.stamp, number=10_000, repeat=5)) / 10_000 < 1e-6


def test_check_that_begins_to_hang_is_believed_gone_a_minute_after_its_last_success(cache, clock):
    check = Hanging()
    check.may_end.set()
    cache.check(check)
    cache.wait_for_answers()
    check.may_end.clear()
    for seconds, ok in [(31, True), (28, True), (2, False)]:
        clock.now += seconds
        cache.stamp()
        assert cache.check(check).ok is ok
    assert cache.stamp() == 1
    check.may_end.set()
    cache.wait_for_answers()
    assert (cache.stamp(), cache.check(check).ok) == (2, True)


def test_checks_that_hang_take_no_more_than_eight_threads(hasty, clock):
    checks = [Hanging() for _ in range(20)]
    reasons = [found.reason for found in hasty.check_all([*map(entry, checks)])]
    assert reasons.count("its check takes longer than 5 s") == 8
    assert reasons.count("its check waits for others that hang") == 12
    for _ in range(5):
        hasty.invalidate()
        clock.now += 100
        hasty.stamp()
        hasty.check_all([*map(entry, checks)])
    assert len(hasty._threads) == 8
    for check in checks:
        check.may_end.set()
    hasty.wait_for_answers(20)
    assert all(found.ok for found in hasty.check_all([*map(entry, checks)]))


def test_one_that_hangs_does_not_keep_others_from_being_asked_anew(cache, clock):
    hanging, check = Hanging(), Check()
    hanging.may_end.set()
    cache.check_all([entry(hanging), entry(check)])
    cache.wait_for_answers(2)
    hanging.may_end.clear()
    clock.now += 31
    cache.stamp()
    assert hanging.begun.acquire(timeout=5)
    for _ in range(2):  # the other waits behind it, until it is clear that it hangs
        clock.now += 6
        cache.stamp()
    cache.wait_for_answers()
    assert check.asked == 2
    hanging.may_end.set()


def test_threads_end_when_there_is_nothing_to_ask(cache):
    cache.check(Check())
    cache.wait_for_answers()
    for thread in [*cache._threads._busy_since]:
        thread.join(5)
    assert len(cache._threads) == 0


def test_a_check_that_asks_for_itself_is_not_there(cache):
    def check():
        return cache.check(check)

    assert cache.check(check).reason == "its check has not answered yet"


def test_bound_methods_of_one_object_are_one_check(cache):
    class Service:
        asked = 0

        def is_there(self):
            self.asked += 1
            return True

    service, other = Service(), Service()
    for one in (service, service, other):
        assert cache.check(one.is_there).ok
    assert (service.asked, other.asked) == (1, 1)


def test_what_is_known_of_a_check_goes_with_its_function(cache, clock):
    service = Check()
    cache.check(service.__call__)
    cache.check(lambda: True)
    cache.wait_for_answers(2)
    for thread in [*cache._threads._busy_since]:
        thread.join(5)
    gc.collect()
    assert len(cache._records) == 1
    del service
    gc.collect()
    assert len(cache._records) == 0


def test_failure_without_a_success_before_it_is_believed_and_kept(cache):
    check = Check(says=False)
    assert not cache.check(check).ok
    assert not cache.check(check).ok
    assert check.asked == 1


def test_missing_variable_is_named_by_each_tool_that_shares_a_check(cache, monkeypatch):
    monkeypatch.delenv("A_KEY", raising=False)
    monkeypatch.delenv("B_KEY", raising=False)
    check = Check(says=False)
    assert cache.check(check, ["A_KEY"]).reason == "needs A_KEY"
    assert cache.check(check, ["B_KEY"]).reason == "needs B_KEY"
    assert check.asked == 1


def test_what_is_asked_while_all_is_forgotten_is_asked_again(cache):
    check = Hanging()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.check, check)
        assert check.begun.acquire(timeout=5)
        cache.invalidate()
        check.may_end.set()
        assert waiting.result(5).ok
    assert check.asked == 2


def test_invalidate_forgets_the_success_as_well(cache):
    check = Check()
    cache.check(check)
    check.says = False
    before = cache.stamp()
    cache.invalidate()
    assert not cache.check(check).ok
    assert cache.stamp() > before


def test_many_threads_at_once_ask_only_once(cache):
    may_answer, asked = threading.Event(), threading.Semaphore(0)
    answers = []

    def check():
        asked.release()
        may_answer.wait(5)
        return True

    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(cache.check, check) for _ in range(8)]
        assert asked.acquire(timeout=5)
        may_answer.set()
        answers = [future.result(5).ok for future in futures]
    assert answers == [True] * 8
    assert not asked.acquire(blocking=False)


def test_slow_check_does_not_hold_up_another(cache):
    may_answer, asked = threading.Event(), threading.Event()

    def slow():
        asked.set()
        return may_answer.wait(5)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(cache.check, slow)
        assert asked.wait(5)
        assert cache.check(lambda: True).ok
        may_answer.set()
        assert future.result(5).ok


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_asks_for_itself(run_script):
    script = """
import os, threading, warnings
warnings.simplefilter("ignore")
from tools import availability
begun, may_end = threading.Event(), threading.Event()
def hang():
    begun.set()
    return may_end.wait(10)
threading.Thread(target=availability.check, args=[hang], daemon=True).start()
begun.wait(5)
child = os.fork()
if not child:
    may_end.set()
    os._exit(0 if availability.check(hang).ok else 1)
print(os.waitpid(child, 0)[1])
"""
    assert run_script(script)[0] == "0\n"
