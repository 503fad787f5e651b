"""What of a conversation stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.agent.compaction.parts import parts_of


def system(text="rules"):
    return {"role": "system", "content": text}


def user(text="do it"):
    return {"role": "user", "content": text}


def said(text="ok"):
    return {"role": "assistant", "content": text}


def called(*ids):
    calls = [{"id": each, "function": {"name": "t", "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(call_id="1", text="x" * 400):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def size(messages):
    return sum(len(str(each.get("content") or "")) // 4 + 4 for each in messages)


LONG = [system(), user("first"), said("yes"), user("second"),
        *[each for n in range(9) for each in (called(str(n)), result(str(n)))],
        said("done"), user("third"), called("x"), result("x")]  # fmt: skip


def test_the_first_exchange_and_the_newest_request_stay():
    parts = parts_of(LONG, size, 115)
    assert [each["content"] for each in LONG[: parts.head]] == ["rules", "first", "yes"]
    assert LONG[parts.tail]["content"] == "third"
    assert parts.tail < len(LONG) - 1


def test_more_room_keeps_more():
    tails = [parts_of(LONG, size, kept).tail for kept in (150, 500, 5_000)]
    assert tails == sorted(tails, reverse=True)
    assert tails[-1] <= parts_of(LONG, size, 5_000).head


def test_the_newest_request_stays_however_much_came_after_it():
    messages = [system(), user("first"), said(), user("newest"), *LONG[4:22]]
    assert parts_of(messages, size, 100).tail == 3


@pytest.mark.parametrize("messages", [[], [system()], [system(), user()], [user()]])
def test_a_short_conversation_has_no_middle(messages):
    parts = parts_of(messages, size, 10)
    assert messages[parts.middle] == []


STEPS = st.lists(st.sampled_from(["user", "said", "call", "two"]), max_size=30)


@given(STEPS, st.integers(0, 600))
def test_calls_and_their_results_are_never_parted(steps, kept):
    messages = [system(), user()]
    for number, step in enumerate(steps):
        one, two = f"{number}a", f"{number}b"
        messages += {
            "user": [user()],
            "said": [said()],
            "call": [called(one), result(one)],
            "two": [called(one, two), result(one), result(two)],
        }[step]
    parts = parts_of(messages, size, kept)
    assert parts.head <= parts.tail <= len(messages)
    for piece in (messages[: parts.head], messages[parts.middle], messages[parts.tail :]):
        asked = [call["id"] for each in piece for call in each.get("tool_calls", ())]
        answered = [each["tool_call_id"] for each in piece if each["role"] == "tool"]
        assert asked == answered
    newest = max(at for at, each in enumerate(messages) if each["role"] == "user")
    assert newest < parts.head or newest >= parts.tail
