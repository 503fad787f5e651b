"""The kernel's side, as far as it goes without a process."""

from __future__ import annotations

import os
import re

import pytest

from hermes_jupyter.agent.models.local import shared_server
from hermes_jupyter.agent.models.local.child import TAIL, WEEK, fresh_log, how_it_ended, tail


def test_two_sessions_share_one_server():
    assert shared_server("smollm2-135m") is shared_server("smollm2-135m")


def test_a_server_that_was_not_started_is_not_alive_and_did_not_fail():
    server = shared_server("smollm2-135m")
    assert (server.alive(), server.failure()) == (False, None)


@pytest.mark.parametrize(
    ("code", "expected"),
    [(1, "ended with code 1"), (-9, "was ended by SIGKILL"), (-4, "SIGILL .*AVX2")],
)
def test_the_end_of_a_process_is_told_in_words(code, expected):
    assert re.search(expected, how_it_ended(code))


def test_the_tail_of_a_log_is_one_line(tmp_path):
    log = tmp_path / "log"
    log.write_text("begin\n" + "x\n" * TAIL + "the end\n")
    assert tail(log).endswith("x the end")
    assert len(tail(log)) <= TAIL


def test_old_logs_are_removed(tmp_path):
    old = tmp_path / "local-model-1.log"
    old.write_text("long ago")
    os.utime(old, (old.stat().st_mtime - WEEK - 60,) * 2)
    fresh_log(tmp_path)
    assert not old.exists()
