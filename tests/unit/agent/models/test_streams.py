"""Chunks of a stream become deltas and a reply."""

import pytest

from hermes_jupyter.agent.models.streams import ReplyBuilder
from hermes_jupyter.calls import Usage
from hermes_jupyter.testing.oddities import chunk

PRINTED = '<tool_call>{"name": "todo", "arguments": {}}</tool_call>'
NATIVE = [{"index": 0, "id": "x", "function": {"name": "todo", "arguments": "{}"}}]


def built(*chunks, tools=("todo",)):
    deltas = []
    builder = ReplyBuilder(deltas.append, tools)
    for one in chunks:
        builder.add(one)
    return builder.reply(), deltas


def shown(deltas, kind="text"):
    return "".join(delta.text for delta in deltas if delta.kind == kind)


def test_text_is_shown_as_it_comes_and_kept():
    reply, deltas = built(chunk(content="Hel"), chunk(content="lo."), chunk("stop"))
    assert [delta.text for delta in deltas] == ["Hel", "lo."]
    assert (reply.text, reply.calls, reply.finish) == ("Hello.", (), "stop")


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm."},
        {"reasoning": "Hm.", "reasoning_content": "Hm."},
        {"content": "<think>Hm.</think>"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
    ],
)
def test_thoughts_come_under_many_names(delta):
    reply, deltas = built(chunk(**delta), chunk(content="Yes."), chunk("stop"))
    assert (reply.reasoning, reply.text) == ("Hm.", "Yes.")
    assert (shown(deltas, "reasoning"), shown(deltas)) == ("Hm.", "Yes.")


def test_a_printed_call_is_never_shown():
    text = f"I plan.\n{PRINTED}"
    reply, deltas = built(*(chunk(content=letter) for letter in text), chunk("stop"))
    assert shown(deltas) == reply.text == "I plan."
    assert [call.name for call in reply.calls] == ["todo"]
    assert reply.finish == "tool_calls"


def test_a_printed_call_behind_thoughts_is_found():
    reply, _ = built(chunk(content=f"<think>Plan.</think>\n{PRINTED}"), chunk("stop"))
    assert (reply.reasoning, reply.text, len(reply.calls)) == ("Plan.", "", 1)


def test_printed_calls_do_not_count_beside_native_ones():
    reply, _ = built(chunk(content=PRINTED), chunk("tool_calls", tool_calls=NATIVE))
    assert [call.id for call in reply.calls] == ["x"]


def test_without_tools_a_printed_call_is_text():
    reply, _ = built(chunk(content=PRINTED), chunk("stop"), tools=())
    assert (reply.text, reply.calls) == (PRINTED, ())


@pytest.mark.parametrize("place", ["first", "last", "with a choice", "never"])
def test_usage_may_come_anywhere_or_never(place):
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    alone = {"choices": [], "usage": usage}
    chunks = {
        "first": [alone, chunk(content="Hi"), chunk("stop")],
        "last": [chunk(content="Hi"), chunk("stop"), alone],
        "with a choice": [
            {**chunk(content="Hi"), "usage": None},
            {**chunk("stop"), "usage": usage},
        ],
        "never": [chunk(content="Hi"), chunk("stop")],
    }
    reply, _ = built(*chunks[place])
    tokens = (0, 0, 0) if place == "never" else (5, 2, 3)
    assert reply.usage == Usage(
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        cached_tokens=tokens[2],
        model_calls=1,
    )


def test_the_old_function_call_is_a_call():
    old = {"name": "todo", "arguments": "{}"}
    reply, _ = built(chunk("function_call", content=None, function_call=old))
    assert (reply.calls[0].name, reply.finish) == ("todo", "tool_calls")


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_the_reason_to_end_is_passed_on(finish):
    assert built(chunk(content="Hi"), chunk(finish))[0].finish == finish


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        chunk(content=7),
        chunk(content=[1, {"type": "image"}]),
        {"usage": "none"},
    ],
)
def test_odd_chunks_are_passed_over(odd):
    reply, deltas = built(odd, chunk(content="Hi"), odd)
    assert (reply.text, len(deltas)) == ("Hi", 1)
