"""How often threads take turns while agents work."""

import sys

import pytest

from hermes_jupyter.kernel.switching import SECONDS, often


@pytest.fixture(autouse=True)
def usual():
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.004)
    yield 0.004
    sys.setswitchinterval(before)


def test_it_is_as_before_when_the_last_agent_has_ended(usual):
    first, second = often(), often()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() == SECONDS
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == usual


def test_an_agent_that_fails_leaves_it_as_before(usual):
    with pytest.raises(ValueError, match="no"), often():
        raise ValueError("no")
    assert sys.getswitchinterval() == usual


@pytest.mark.parametrize("seconds", [0.0001, 0.002])
def test_what_the_user_sets_meanwhile_stays(seconds):
    with often():
        sys.setswitchinterval(seconds)
    assert sys.getswitchinterval() == pytest.approx(seconds)


def test_where_the_user_has_it_more_often_it_stays():
    sys.setswitchinterval(0.0001)
    users = sys.getswitchinterval()
    with often():
        assert sys.getswitchinterval() == users
    assert sys.getswitchinterval() == users
