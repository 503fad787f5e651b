"""What the model reads of the results of its calls."""

import asyncio
import json

import pytest

from hermes_jupyter.agent.reading import Reading
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.store.handles import Handles
from tools.registry import ToolRegistry, tool_error, tool_result

LONG = "words of a page\n" * 10_000


@pytest.fixture
def handles(tmp_path):
    handles = Handles(tmp_path, "main")
    yield handles
    handles.close()


@pytest.fixture
def reading(handles):
    tools = ToolRegistry()
    for name, toolset, about in (
        ("terminal", "terminal", {}),
        ("web_fetch", "web", {}),
        ("feed", "mine", {"trusted": False}),
        ("read_result", "results", {}),
    ):
        tools.register(name, toolset, {}, lambda args, **_: "{}", **about)
    return Reading(tools=tools.view(), window=lambda: 32_000, keeper=handles)


def result(name, text, **about):
    call = ToolCall(id="1", name=name, args=about.pop("args", {}))
    return ToolResult(call=call, text=text, **about)


def read(reading, *results):
    return [message["content"] for message in asyncio.run(reading.messages(results))]


def test_short_results_are_read_as_they_are(reading):
    assert asyncio.run(reading.messages([result("terminal", "hello " * 20)])) == [
        {"role": "tool", "tool_call_id": "1", "content": "hello " * 20}
    ]


def test_a_step_takes_its_share_of_the_window_and_no_more(reading):
    texts = read(reading, *[result("terminal", tool_result(output=LONG)) for _ in range(5)])
    assert sum(map(len, texts)) <= 0.3 * 4 * 32_000
    assert all(json.loads(text)["cut"] for text in texts)


def test_later_steps_get_less_and_are_told_so(reading):
    sizes = []
    for _ in range(6):
        text = read(reading, *[result("terminal", LONG)] * 3)
        sizes.append(sum(map(len, text)))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 15_000
    assert "filling up" in text[0]


@pytest.mark.parametrize("name", ["web_fetch", "feed"])
def test_text_from_outside_is_fenced_and_within_the_limits(reading, name):
    texts = read(reading, *[result(name, tool_result(text=LONG))] * 3)
    assert sum(map(len, texts)) <= 0.3 * 4 * 32_000
    for text in texts:
        assert text.startswith(f'<untrusted source="{name}"')
        assert json.loads(text.split("\n")[1])["cut"]


def test_so_is_what_is_read_of_it_later(reading, handles):
    read(reading, result("web_fetch", tool_result(text=LONG)))
    [handle] = handles.known()
    page = tool_result(handle=handle, content=LONG[:500], offset=0, next_offset=500)
    [again] = read(reading, result("read_result", page, args={"handle": handle}))
    assert again.startswith('<untrusted source="web_fetch"')
    trusted = handles.keep("own")
    [own] = read(reading, result("read_result", page, args={"handle": trusted}))
    assert own == page


def test_what_we_say_ourselves_is_not_fenced(reading):
    said = tool_error("Denied: the user said no. It was not run.")
    assert read(reading, result("web_fetch", said, status="denied")) == [said]
    said = tool_error("Invalid arguments for web_fetch: url is missing")
    assert read(reading, result("web_fetch", said, status="error", mistake="x")) == [said]
    assert read(reading, result("unknown", said, status="error")) == [said]


def test_a_huge_result_does_not_hold_up_the_loop(reading, handles):
    text = tool_result(output="x" * 5_000_000)
    kept = handles.keep(text)
    before = result("terminal", text[:90_000], handle=kept, total_chars=5_000_000)

    async def main():
        running = asyncio.create_task(reading.messages([before]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not running.done()
        return await running

    [message] = asyncio.run(main())
    assert json.loads(message["content"])["output"].startswith("xxx")
