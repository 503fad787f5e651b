"""Whatever turns do to files: taken back they are as before, done again as after."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

NAMES = [b"a", b"A", b"b.txt", b"d", b"d/x", b"d/e", b"d/e/y", b"caf\xe9", b"\xff\xfe", b"a b\n"]
names = st.sampled_from(NAMES)
contents = st.sampled_from([b"", b"one\n", b"two\r\nlines\r\n", b"\x00\xff" * 50, b"x" * 2_000_000])
modes = st.sampled_from([0o644, 0o755, 0o600, 0o444])
operations = st.one_of(
    st.tuples(st.just("write"), names, contents),
    st.tuples(st.just("append"), names, contents),
    st.tuples(st.just("told"), names, contents),
    st.tuples(st.just("remove"), names),
    st.tuples(st.just("told_remove"), names),
    st.tuples(st.just("rename"), names, names),
    st.tuples(st.just("link"), names, names),
    st.tuples(st.just("folder"), names),
    st.tuples(st.just("mode"), names, modes),
)
turns = st.lists(st.lists(operations, max_size=6), min_size=1, max_size=4)


def act(work: Any, recorder: Any, kind: str, name: bytes, more: Any = None) -> None:
    """Do it if it can be done."""
    path = work.folder / os.fsdecode(name)
    with suppress(OSError, RuntimeError):
        if kind.startswith("told"):  # our tools know no path through a link
            path = path.parent.resolve() / path.name
        match kind:
            case "write" | "append":
                with path.open("ab" if kind == "append" else "wb") as file:
                    file.write(more)
            case "told" if not path.is_dir() and not path.is_symlink():
                recorder.before([str(path)])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(more)
                recorder.after([str(path)])
            case "remove":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            case "told_remove" if path.is_file():
                recorder.before([str(path)])
                path.unlink()
                recorder.after([str(path)])
            case "rename":
                path.rename(work.folder / os.fsdecode(more))
            case "link":
                path.symlink_to(os.fsdecode(more))
            case "folder":
                path.mkdir(parents=True)
            case "mode" if not path.is_symlink() and not path.is_dir():
                path.chmod(more)


@settings(max_examples=80, deadline=None)
@example(  # a tool of ours goes on with what a command of the same turn has made
    before=[],
    turns=[[("folder", b"d"), ("write", b"d/x", b""), ("told", b"d/x", b"one\n")]],
    restarts=False,
)
@example(  # a link takes the place of a folder, so its files seem to be there
    before=[],
    turns=[[("told", b"d/x", b""), ("rename", b"d", b"a"), ("link", b"d", b"a")]],
    restarts=False,
)
@example(
    before=[("folder", b"d"), ("write", b"d/x", b"one\n")],
    turns=[[("rename", b"d", b"a"), ("link", b"d", b"a")]],
    restarts=False,
)
@example(
    before=[("folder", b"d/e"), ("write", b"d/e/y", b"one\n")],
    turns=[[("remove", b"d"), ("write", b"d", b"one\n")]],
    restarts=False,
)
@given(before=st.lists(operations, max_size=6), turns=turns, restarts=st.booleans())
def test_turns_are_taken_back_and_done_again_to_the_byte(kind_of_work, before, turns, restarts):
    with tempfile.TemporaryDirectory() as folder:
        work = kind_of_work(Path(folder, "work"), Path(folder, "home"))
        nobody = work.recorder()
        for operation in before:
            if not operation[0].startswith("told"):
                act(work, nobody, *operation)
        trees = [work.tree()]
        stood = []
        for operations in turns:
            commands = any(not each[0].startswith("told") for each in operations)
            with work.turn(command=commands) as recorder:
                for operation in operations:
                    act(work, recorder, *operation)
            trees.append(work.tree())
            if trees[-1] != trees[-2]:
                stood.append((work.last, len(trees) - 1))
        assert not work.warnings
        if restarts:
            work.restart()
        undos = []
        for turn, place in reversed(stood):
            assert work.tree() == trees[place]
            assert work.undo(turn).is_whole
            assert work.tree() == trees[place - 1]
            undos.append((work.last, place))
        for turn, place in reversed(undos):
            assert work.undo(turn).is_whole
            assert work.tree() == trees[place]
        work.checkpoints.close()
