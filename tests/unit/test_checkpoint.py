"""What the road and the tools tell a turn's checkpoint."""

import asyncio
import threading

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.checkpoint import TurnCheckpoint
from hermes_jupyter.store.checkpoints.recorder import About
from hermes_jupyter.store.checkpoints.store import Checkpoints
from hermes_jupyter.undoable import Item
from tools.files.changes import Change, commit
from tools.files.local_place import LOCAL
from tools.files.problems import Problem


class Cells:
    """Stands for another kind of thing."""

    kind = "cell"

    def __init__(self) -> None:
        self.begun: list[str] = []

    def begin(self, turn: str, tool: str) -> None:
        self.begun.append(tool)

    def end(self, turn: str) -> list[Item]:
        return [Item(name="c1", how="changed")]

    def plan(self, turn: str, items: list[Item], *, force: bool) -> list[Item]:
        return items

    def undo(self, turn: str, items: list[Item], by: str, *, force: bool) -> list[Item]:
        return items


class Broken(Cells):
    def begin(self, turn: str, tool: str) -> None:
        raise ValueError

    def end(self, turn: str) -> list[Item]:
        raise ValueError


@pytest.fixture
def checkpoints(tmp_path):
    made = Checkpoints(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def make(checkpoints, tmp_path):
    """Make a turn's checkpoint in the folder ``work``."""
    (tmp_path / "work").mkdir()

    def make(*undoables, warn=print):
        store = checkpoints.of(str(tmp_path / "work"), most_bytes=1 << 30)
        return TurnCheckpoint(store, About(turn="t", session="s", title=""), undoables, warn)

    return make


def run(turn, entry, make, **about):
    """Run one call of a tool; what was looked at before it."""
    looked = []

    class Told:
        def about_to_run(self, tool, place):
            looked.append((tool, place, threading.current_thread() is threading.main_thread()))

    turn.tool(entry, lambda args, **_: "{}", **about)
    turn.decision = "once"
    road = turn.road(checkpoint=Told())
    asyncio.run(road.run(ToolCall(id="1", name=entry)))
    return looked


def test_the_workspace_is_looked_at_before_a_tool_that_may_change_anything(turn, make):
    assert run(turn, "mine", make) == [("mine", "", False)]


@pytest.mark.parametrize(
    ("about", "expected"), [({}, ["prepared", "looked"]), ({"effects": "read"}, [])]
)
def test_the_workspace_is_looked_at_while_a_person_is_asked(turn, about, expected):
    done, is_ready, answer = [], threading.Event(), turn.desk.answer

    class Told:
        def prepare(self):
            done.append("prepared")

        def about_to_run(self, tool, place):
            done.append("looked")

    def answer_when_ready(*args, **about):
        assert is_ready.wait(10)
        answer(*args, **about)

    turn.desk.answer = lambda *args, **about: threading.Thread(
        target=answer_when_ready, args=args, kwargs=about
    ).start()
    turn.tool(
        "mine", lambda args, **_: "{}", guard_fn=lambda args, **_: "does it",
        prepare_fn=lambda args, **_: is_ready.set(), **about,
    )  # fmt: skip
    turn.decision = "once"
    asyncio.run(turn.road(checkpoint=Told()).run(ToolCall(id="1", name="mine")))
    assert done == expected


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("mine", {"effects": "read"}),
        ("mine", {"reads_only": lambda args, **_: True}),
        ("patch", {"effects": "write"}),
    ],
)
def test_tools_that_change_nothing_or_tell_what_they_change_cost_nothing(turn, make, name, about):
    assert run(turn, name, make, **about) == []


def test_a_tool_that_only_says_that_it_writes_is_looked_after(turn, make):
    assert len(run(turn, "mine", make, effects="write")) == 1


def test_all_kinds_are_counted(make, tmp_path):
    cells = Cells()
    checkpoint = make(cells)
    checkpoint.about_to_run("mine")
    (tmp_path / "work" / "a").write_text("a")
    assert asyncio.run(checkpoint.end("done")) == {"file": 1, "cell": 1}
    assert cells.begun == ["mine"]


def test_a_kind_that_fails_does_not_spoil_the_others(make, tmp_path):
    checkpoint = make(Broken(), Cells())
    checkpoint.about_to_run("mine")
    (tmp_path / "work" / "a").write_text("a")
    assert asyncio.run(checkpoint.end("done")) == {"file": 1, "cell": 1}


def test_a_turn_does_not_wait_long_for_its_checkpoint(make, checkpoints, tmp_path, monkeypatch):
    monkeypatch.setattr("hermes_jupyter.checkpoint.SECONDS_AT_INTERRUPT", 0.01)
    checkpoint = make()
    checkpoint.about_to_run("mine")
    (tmp_path / "work" / "a").write_text("a")
    store = checkpoints.of(str(tmp_path / "work"), most_bytes=1 << 30)

    async def interrupted():
        with store.lock:
            return await checkpoint.end("interrupted")

    assert asyncio.run(interrupted()) == {}
    while not store.turns():
        store.look()
    assert store.turns()[0].files == 1


class Heard(list):
    """A recorder that notes what was there when it was told."""

    def before(self, paths):
        self.append(("before", [LOCAL.stat(path) is not None for path in paths]))

    def after(self, paths):
        self.append(("after", [LOCAL.stat(path) is not None for path in paths]))

    def elsewhere(self, place):
        self.append(("elsewhere", place))


def test_the_recorder_hears_of_a_change_before_it_is_made_and_after(tmp_path):
    heard, path = Heard(), str(tmp_path / "a")
    commit([Change(path=path, before=None, after=b"a")], LOCAL, None, heard)
    commit([Change(path=path, before=b"a", after=None)], LOCAL, None, heard)
    assert heard == [("before", [False]), ("after", [True]), ("before", [True]), ("after", [False])]


def test_the_recorder_hears_also_of_a_change_that_failed(tmp_path):
    heard, folder = Heard(), tmp_path / "a"
    folder.mkdir()
    with pytest.raises((OSError, Problem)):
        commit([Change(path=str(folder), before=None, after=b"a")], LOCAL, None, heard)
    assert [what for what, _ in heard] == ["before", "after"]


def test_files_of_another_machine_are_said_not_to_be_covered(tmp_path):
    class There:
        name = "ssh:host"

        def stat(self, path):
            return None

        def make_folders(self, path):
            return []

        def write_bytes_atomic(self, path, content, mode=None):
            pass

    heard = Heard()
    commit([Change(path="/a", before=None, after=b"a")], There(), None, heard)
    assert heard == [("elsewhere", "ssh:host")]
