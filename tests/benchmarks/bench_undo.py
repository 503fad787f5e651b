"""What it costs to be able to undo a turn: its checkpoint, the first look, the undo itself."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hermes_jupyter.kernel.variables.undo import Variables
from hermes_jupyter.store.checkpoints.recorder import About, FileRecorder
from hermes_jupyter.store.checkpoints.store import Checkpoints, Store
from hermes_jupyter.store.checkpoints.undoing import carry_out, undo
from tests.benchmarks.rows import Row, spread

SAMPLES = 15
TOUCHED = 100
SIZE = 8_000
SMALL, LARGE = 2_000, 100_000
"""Files of a workspace."""
NAMES = 500


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        with _store(Path(folder, "small"), SMALL) as store:
            yield from _turns(store)
        with _store(Path(folder, "large"), LARGE) as store:
            yield from _looks(store)
    yield _variables()


def _turns(store: Store) -> Iterator[Row]:
    root = Path(os.fsdecode(store.area.root))
    yield _row("a turn without effects", 1e6, "us", 1_000, lambda: _recorder(store).end())
    _turn(store, lambda: None)  # the first look
    paths = [root / f"d{number % 20}" / f"f{number}" for number in range(TOUCHED)]

    def write() -> None:
        for path in paths:
            path.write_bytes(os.urandom(SIZE))

    files, told, commands, undone = (f"{TOUCHED} files", [], [], [])
    for _ in range(SAMPLES):
        told.append(_told(store, paths))
        spent = _seconds(write)
        commands.append(_seconds(lambda: _turn(store, write)) - spent)
        last = store.turns()[-1]
        undone.append(
            _seconds(lambda turn=last: carry_out(store, undo(store, turn, force=False), session=""))
        )
    for what, samples, target in (
        (f"checkpoint of a turn whose tools change {files}", told, 300),
        (f"checkpoint of a turn whose command changes {files} of {SMALL:,}", commands, 300),
        (f"undo of {files}", undone, None),
    ):
        found = spread(samples, 1e3)
        yield Row(
            what=what, value=found.median, unit="ms", target=target, detail=found.detail("ms")
        )  # fmt: skip


def _looks(store: Store) -> Iterator[Row]:
    what = f"in a workspace of {LARGE:,} files"
    first = _seconds(lambda: _turn(store, lambda: None))
    yield Row(what=f"first command {what}: look, and keep what time allows", value=first * 1e3,
              unit="ms", target=4_000)  # fmt: skip
    while store._copier is not None and store._copier.is_alive():
        store._copier.join()
    found = spread([_seconds(lambda: _turn(store, lambda: None)) for _ in range(5)], 1e3)
    yield Row(
        what=f"later turns with commands {what}", value=found.median, unit="ms",
        detail=found.detail("ms"),
    )  # fmt: skip


def _variables() -> Row:
    names = {f"v{number}": [number, {"a": [1.0, 2.0, "text"]}] for number in range(NAMES)}
    variables = Variables(lambda: names)

    def turn() -> None:
        variables.begin("t", "")
        variables.end("t")

    return _row(f"{NAMES} small variables before and after a turn", 1e3, "ms", None, turn)


def _row(
    what: str, scale: float, unit: str, target: float | None, act: Callable[[], object]
) -> Row:
    found = spread([_seconds(act) for _ in range(SAMPLES)], scale)
    return Row(what=what, value=found.median, unit=unit, target=target, detail=found.detail(unit))


def _told(store: Store, paths: list[Path]) -> float:
    """Seconds beyond the writing itself, as write_file tells each file."""
    recorder, spent = _recorder(store), 0.0
    for path in paths:
        spent += _seconds(lambda path=path: recorder.before([str(path)]))
        path.write_bytes(os.urandom(SIZE))
        spent += _seconds(lambda path=path: recorder.after([str(path)]))
    return spent + _seconds(recorder.end)


def _turn(store: Store, act: Callable[[], object]) -> None:
    recorder = _recorder(store)
    recorder.look()
    act()
    recorder.end()


def _recorder(store: Store) -> FileRecorder:
    return FileRecorder(store, About(turn=os.urandom(6).hex(), session="s", title=""), print)


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


@contextmanager
def _store(folder: Path, files: int) -> Iterator[Store]:
    root = folder / "work"
    for number in range(files):
        if number < files // 100 or number < 20:
            (root / f"d{number}").mkdir(parents=True)
    folders = max(20, files // 100)
    for number in range(files):
        path = root / f"d{number % folders}" / f"f{number}"
        path.write_bytes(b"%d\n" % number * (number % 100))
    checkpoints = Checkpoints(folder / "home")
    try:
        yield checkpoints.of(str(root), most_bytes=1 << 30)
    finally:
        checkpoints.close()
