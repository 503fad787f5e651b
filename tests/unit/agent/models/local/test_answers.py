"""The text of an answer arrives while the model writes it, whatever the pieces."""

from __future__ import annotations

import json

import pytest

from hermes_jupyter.agent.models.local.answers import GrowingReply, message_of

TEXT = 'He said "C:\\temp" \U0001f642 é\nend'


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_text_is_whole_however_it_is_cut(ascii_only, size):
    written = json.dumps({"final": TEXT}, ensure_ascii=ascii_only)
    reply = GrowingReply()
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    assert "".join(reply.feed(piece) for piece in pieces) == TEXT


def test_a_call_is_no_text():
    reply = GrowingReply()
    assert reply.feed('{"tool": "terminal", "arguments": {"command": "ls"}}') == ""
    assert reply.kind == "tool"


def test_a_whole_call_becomes_a_tool_call():
    written = '{"tool": "terminal", "arguments": {"command": "echo é"}}'
    message, finish = message_of(written, "stop")
    function = message["tool_calls"][0]["function"]
    assert (finish, function["name"]) == ("tool_calls", "terminal")
    assert json.loads(function["arguments"]) == {"command": "echo é"}


@pytest.mark.parametrize(
    ("written", "content"),
    [('{"final": "half a sen', "half a sen"), ('{"tool": "terminal", "argum', ""), ("", "")],
)
def test_a_reply_that_was_cut_off_says_so(written, content):
    assert message_of(written, "length") == ({"role": "assistant", "content": content}, "length")
