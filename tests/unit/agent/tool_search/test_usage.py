import asyncio
import json
import stat
import threading

import pytest

from hermes_jupyter.agent.tool_search.usage import MOST, ToolUsage


@pytest.fixture
def path(tmp_path):
    return tmp_path / "jupyter" / "tool_usage.json"


def noted(path, **counts):
    usage = ToolUsage(path)
    for tool, count in counts.items():
        for _ in range(count):
            usage.note(tool)
    return usage


def test_calls_are_counted_at_once_and_kept(path):
    usage = noted(path, patch=2)
    assert usage.counts() == {"patch": 2}
    usage.save()
    usage.save()
    usage.note("patch")
    assert usage.counts() == {"patch": 3}
    assert ToolUsage(path).counts() == {"patch": 2}


def test_only_the_owner_may_read_it(path):
    noted(path, patch=1).save()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {each.name for each in path.parent.iterdir()} == {path.name, "tool_usage.lock"}


def test_two_kernels_add_to_each_other(path):
    kernels = [noted(path, patch=5, todo=number) for number in range(4)]
    threads = [threading.Thread(target=usage.save) for usage in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ToolUsage(path).counts() == {"patch": 20, "todo": 6}


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"counts": 3}', '{"counts": {"a": "x", "b": -1, "c": true}}',
               "[" * 100_000]
)  # fmt: skip
def test_a_damaged_file_counts_nothing_and_is_mended(path, damage):
    path.parent.mkdir()
    path.write_text(damage)
    usage = noted(path, patch=1)
    assert usage.counts() == {"patch": 1}
    usage.save()
    assert json.loads(path.read_text())["counts"] == {"patch": 1}


def test_a_folder_that_cannot_be_written_is_no_error(path):
    path.parent.write_text("in the way")
    usage = noted(path, patch=1)
    usage.save()
    assert usage.counts() == {"patch": 1}


def test_old_habits_fade(path):
    noted(path, patch=1).save()
    path.write_text(json.dumps({"counts": {"patch": MOST, "once": 1}}))
    usage = noted(path, todo=4)
    usage.save()
    assert usage.counts() == {"patch": MOST // 2, "todo": 2}


def test_a_coroutine_does_not_wait_for_the_disk(path):
    async def turn():
        usage = noted(path, patch=1)
        usage.save_soon()
        assert not path.exists()
        await asyncio.gather(*usage._saves)

    asyncio.run(turn())
    assert ToolUsage(path).counts() == {"patch": 1}
