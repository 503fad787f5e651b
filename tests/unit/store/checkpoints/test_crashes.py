"""``kill -9`` at many points of a turn and of an undo: nothing is lost, nothing is half done."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.store.checkpoints.undoing import carry_out, undo

POINTS = int(os.environ.get("CRASHES", "40"))
"""Of a run, evenly spread over all calls that it makes."""


def died(work: Callable[[], object], after: int) -> bool:
    """Do it in a child that is killed after so many calls of functions; False if it ended first."""
    child = os.fork()
    if child == 0:
        calls = iter(range(after))

        def count(_frame: Any, event: str, _argument: Any) -> None:
            if event in ("call", "c_call") and next(calls, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        try:
            work()
        finally:
            sys.setprofile(None)
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def prepare(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "d").mkdir(parents=True)
    for number in range(6):
        (folder / str(number)).write_text(f"old {number}\n")
        (folder / "d" / str(number)).write_text(f"old {number}\n")
    (folder / "link").symlink_to("0")


def change(work: Any) -> None:
    """What a turn does, by a command and by a tool of ours."""
    folder = work.folder
    with work.turn() as recorder:
        for number in range(4):
            (folder / str(number)).write_text(f"new {number}\n" * 50)
        (folder / "5").unlink()
        shutil.rmtree(folder / "d")
        (folder / "made").mkdir()
        (folder / "made" / "x").write_bytes(b"\x00" * 3_000_000)
        (folder / "link").unlink()
        (folder / "link").symlink_to("1")
        recorder.before([str(folder / "4")])
        (folder / "4").write_text("told")
        recorder.after([str(folder / "4")])


@pytest.fixture
def points(work: Any) -> Callable[[Callable[[], None], Callable[[], object]], Any]:
    """Number of calls at which to kill, once each run is prepared anew."""

    def spread(ready: Callable[[], None], act: Callable[[], object]) -> Any:
        def once(after: int) -> bool:
            ready()
            return died(act, after)

        low, high = 0, 1_000
        while once(high):
            low, high = high, high * 2
        while high - low > high // 50:
            middle = (low + high) // 2
            low, high = (middle, high) if once(middle) else (low, middle)
        return [1 + high * number // POINTS for number in range(POINTS)]

    return spread


def fresh(work: Any) -> None:
    """An empty store and the files as they were."""
    work.checkpoints.close()
    shutil.rmtree(work.home, ignore_errors=True)
    prepare(work.folder)
    work.restart()


def test_a_turn_that_was_killed_is_undone_all_the_same(work, points):
    fresh(work)
    before = work.tree()

    def ready():
        fresh(work)
        work.checkpoints.close()

    def act():
        work.restart()
        change(work)

    killed = 0
    for after in points(ready, act):
        ready()
        killed += died(act, after)
        work.restart()
        for turn in reversed(work.store.turns()):
            work.undo(turn)
        assert work.tree() == before, after
    assert killed >= POINTS * 0.9


def test_an_undo_that_was_killed_leaves_each_file_old_or_new_and_can_be_repeated(work, points):
    fresh(work)
    before = work.tree()
    change(work)
    after_turn = work.tree()
    number = work.last.number
    work.checkpoints.close()
    saved = work.home.with_name("saved")
    shutil.copytree(work.home, saved)
    copy = work.folder.with_name("copy")
    shutil.copytree(work.folder, copy, symlinks=True)

    def ready():
        for kept, place in ((saved, work.home), (copy, work.folder)):
            shutil.rmtree(place)
            shutil.copytree(kept, place, symlinks=True)

    def act():
        work.restart()
        (turn,) = [each for each in work.store.turns() if each.number == number]
        carry_out(work.store, undo(work.store, turn, force=False), session="s")

    killed = 0
    for after in points(ready, act):
        ready()
        killed += died(act, after)
        work.restart()
        turns = {each.number: each for each in work.store.turns()}
        for path, there in work.tree().items():
            assert there in (before.get(path), after_turn.get(path)), (after, path)
        if work.tree() != before:
            work.undo(turns[number])
        assert work.tree() == before, after
        work.checkpoints.close()
    assert killed >= POINTS * 0.9
    work.restart()
