"""The request's body and the answer's frames."""

import asyncio
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.agent.models import wire


def frames_of(*blocks):
    async def read():
        async def arriving():
            for block in blocks:
                yield block

        return [frame async for frame in wire.frames(arriving())]

    return asyncio.run(read())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_read_with_any_line_end(end):
    text = (
        f': hello{end}event: x{end}data: {{"a": 1}}{end}{end}data:{{"a":2}}{end}{end}data: [DONE]'
    )
    assert frames_of(text.encode()) == [{"a": 1}, {"a": 2}, wire.DONE]


@given(st.lists(st.integers(0, 80)))
def test_where_the_bytes_are_cut_makes_no_difference(cuts):
    content = 'data: {"a": "é\u2028\x85"}\r\n\r\n: ping\r\ndata: {"b":\r\ndata: 2}\r\n\r\n'.encode()
    places = sorted({0, len(content), *(cut % len(content) for cut in cuts)})
    blocks = [content[a:b] for a, b in itertools.pairwise(places)]
    assert frames_of(*blocks) == [{"a": "é\u2028\x85"}, {"b": 2}]


def test_a_plain_json_body_is_one_frame():
    assert frames_of(b' {"a"', b": 1}\n") == [{"a": 1}, wire.DONE]


def test_a_web_page_is_recognised():
    with pytest.raises(wire.WebPage):
        frames_of(b"\n<!DOCTYPE html>")


@pytest.mark.parametrize("content", [b'data: {"a"\n\n', b'{"a"', b"data: hello\n\n"])
def test_what_is_not_json_is_said_to_be_unreadable(content):
    with pytest.raises(wire.UnreadableFrame):
        frames_of(content)


def test_no_frames_come_from_an_empty_answer():
    assert frames_of() == frames_of(b"\n") == []


def test_everything_sent_is_json_that_any_server_reads():
    content = "lone \ud83d, pair \ud83d\ude00, é"
    messages = [{"role": "user", "content": content, "score": float("nan"), "n": (1, None)}]
    body = wire.request_body("m", messages, (), {})
    sent = json.loads(json.dumps(body, allow_nan=False).encode("utf-8"))["messages"][0]
    assert sent["content"] == "lone \ufffd, pair 😀, é"
    assert (sent["score"], sent["n"]) == ("nan", [1, None])


def test_a_message_without_text_is_sent_with_an_empty_one():
    messages = [{"role": "assistant", "content": None, "tool_calls": []}]
    assert wire.request_body("m", messages, (), {})["messages"][0]["content"] == ""
    assert messages[0]["content"] is None


def test_a_tool_is_offered_once():
    tools = [{"type": "function", "function": {"name": name}} for name in ("a", "b", "a")]
    assert [
        tool["function"]["name"] for tool in wire.request_body("m", [], tools, {})["tools"]
    ] == [
        "a",
        "b",
    ]


def test_no_tools_are_no_field_and_extra_fields_win():
    body = wire.request_body("m", [], (), {"temperature": 0, "stream_options": None})
    assert "tools" not in body
    assert (body["temperature"], body["stream_options"]) == (0, None)


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"context_length": 131_072}, 131_072),
        ({"max_model_len": 32_768}, 32_768),
        ({"context_window": 8_192, "meta": {"n_ctx_train": 1}}, 8_192),
        ({"meta": {"n_ctx": 4_096, "n_ctx_train": 32_768}}, 4_096),
        ({"meta": {"n_ctx_train": 32_768}}, 32_768),
        ({"context_length": "big", "meta": None}, 0),
        ({"context_length": True, "max_model_len": -1}, 0),
        ({}, 0),
    ],
)
def test_the_window_is_found_under_any_of_its_names(entry, window):
    assert wire.window_of({"id": "m", **entry}) == window
