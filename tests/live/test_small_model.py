"""The embedded model does everyday tasks in our agent, as a user without a key has it.

`make tasks` measures all of them; these are some that it does every time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_jupyter.agent.models.local import installed

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.tasks.ours import our_agent
from tests.tasks.tries import Attempt, suite, tried

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]
RELIABLE = ("agenda", "licence", "port", "welcome", "ideas", "errors", "portugal", "archive")


@pytest.fixture(scope="module")
def attempt(request: pytest.FixtureRequest) -> Iterator[Attempt]:
    if not request.config.getoption("--live", default=False):
        pytest.skip("needs --live")
    if installed() is None:
        pytest.skip('needs pip install "hermes-jupyter[local]"')
    with our_agent() as attempt:
        yield attempt


class TestTheAgentWithASmallModel:
    """Outcomes, not words: see `tests.tasks.task`."""

    @pytest.mark.parametrize("name", RELIABLE)
    def test_an_everyday_task_is_done(self, attempt, name):
        (task,) = suite("everyday", [name])
        assert tried(task, attempt).faults == []

    def test_a_file_is_followed_to_the_next_one(self, attempt):
        (task,) = suite("everyday", ["codeword"])
        found = tried(task, attempt)
        assert found.faults == []
        assert found.calls == ["read_file", "read_file"]
