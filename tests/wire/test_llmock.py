"""The client against llmock, an independent server that breaks on demand.

Its pytest plugin brings the ``llmock`` fixture: a real server in a thread of this process.
"""

import json

import pytest

from hermes_jupyter.errors import ModelError

pytest.importorskip("llmock")


def test_text_is_streamed_and_counted(llmock, ask):
    llmock.reply("Paris is the capital of France.")
    asked = ask(llmock.base_url(), tools=())
    assert asked.shown == asked.reply.text == "Paris is the capital of France."
    assert len(asked.deltas) > 1
    assert asked.reply.usage.prompt_tokens > 0
    assert asked.reply.usage.completion_tokens > 0


def test_an_offered_tool_is_called(llmock, ask):
    (call,) = ask(llmock.base_url()).reply.calls
    assert call.name == "read_file"
    assert json.loads(call.arguments).keys() == {"path"}


def test_a_result_is_answered_in_text(llmock, ask):
    (call,) = ask(llmock.base_url()).reply.calls
    function = {"name": call.name, "arguments": call.arguments}
    messages = [
        {"role": "user", "content": "Read a.txt"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call.id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call.id, "content": "hello"},
    ]
    reply = ask(llmock.base_url(), messages).reply
    assert reply.text
    assert not reply.calls


def test_unreadable_arguments_arrive_as_they_are(llmock, ask):
    llmock.call_tool("read_file", {"path": "a.txt"}).break_tool_call("malformed_arguments")
    (call,) = ask(llmock.base_url()).reply.calls
    with pytest.raises(json.JSONDecodeError):
        json.loads(call.arguments)


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "bad_request"), (401, "auth"), (429, "rate_limit"), (503, "server")]
)
def test_a_status_becomes_a_kind_and_is_not_tried_again(llmock, ask, status, kind):
    llmock.fail(status, retry_after=3 if status == 429 else None)
    with pytest.raises(ModelError) as caught:
        ask(llmock.base_url(), api_key="sk-test")
    assert caught.value.kind == kind
    assert caught.value.retry_after == {429: 3, 503: 1}.get(status)
    assert len(llmock.requests) == 1


def test_a_context_overflow_is_told_from_other_bad_requests(llmock, ask):
    llmock.context_overflow()
    with pytest.raises(ModelError) as caught:
        ask(llmock.base_url())
    assert caught.value.kind == "context"


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "corrupt"])
def test_a_stream_that_breaks_is_never_taken_for_an_answer(llmock, ask, fault):
    llmock.reply("One two three four five six seven eight nine ten.")
    getattr(llmock, fault)(after_chunks=3)
    with pytest.raises(ModelError, match=r"broke after [1-9]\d* characters") as caught:
        ask(llmock.base_url(), tools=())
    assert caught.value.kind == "broken"


def test_a_stream_that_stalls_is_given_up(llmock, ask):
    llmock.reply("One two three four five six.").stall(after_chunks=3, seconds=2)
    with pytest.raises(ModelError, match=r"nothing came for 0\.3 s"):
        ask(llmock.base_url(), tools=(), timeout=0.3)


def test_the_client_judges_well(llmock, ask):
    llmock.rate_limit(retry_after=0.1)
    with pytest.raises(ModelError):
        ask(llmock.base_url())
    assert not llmock.verdict().errors
