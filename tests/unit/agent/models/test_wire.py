"""The frames of an answer."""

import asyncio
import itertools

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
