"""Whether a tool can work here and now."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools.availability import Availability, AvailabilityCache


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


@pytest.fixture
def cache(clock):
    return AvailabilityCache(clock)


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


def test_answer_is_kept_for_thirty_seconds(cache, clock):
    check = Check()
    for seconds, asked in [(0, 1), (29, 1), (2, 2)]:
        clock.now += seconds
        assert cache.check(check).ok
        assert check.asked == asked


def test_failure_soon_after_a_success_is_a_flicker_and_asked_again_each_time(cache, clock):
    check = Check()
    cache.check(check)
    check.says = False
    clock.now += 31
    assert cache.check(check).ok
    assert cache.check(check).ok
    assert check.asked == 3
    clock.now += 30
    assert not cache.check(check).ok


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


def test_invalidate_forgets_the_success_as_well(cache):
    check = Check()
    cache.check(check)
    check.says = False
    cache.invalidate()
    assert not cache.check(check).ok


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
