import json

import pytest

from hermes_jupyter.agent.models.providers import CUSTOM
from hermes_jupyter.server.asked import WRITTEN, NotPassed, read
from hermes_jupyter.server.offered import Offered

MODELS = {
    name: Offered(name=name, model=name, provider=CUSTOM, base_url="http://x", key="k")
    for name in ("small", "dear")
}


def asked(body, api="chat"):
    told = body if isinstance(body, bytes) else json.dumps({"model": "small", **body}).encode()
    return read("kernel", api, told, MODELS)


def test_the_provider_reads_what_was_checked():
    """Of two fields with one name it may take the other one."""
    found = asked(b'{"model": "unpaid", "stream": true, "model": "small", "stream": false}')
    assert json.loads(found.body) == {"model": "small", "stream": False}
    assert found.body.count(b"model") == 1


@pytest.mark.parametrize(
    "field",
    [
        {"models": ["dear"]},
        {"fallbacks": ["dear"]},
        {"api_base": "https://evil.example"},
        {"base_url": "https://evil.example"},
        {"extra_headers": {"Host": "evil.example"}},
        {"custom_llm_provider": "openai"},
    ],
)
def test_a_gateway_is_not_told_to_ask_another_model_or_elsewhere(field):
    with pytest.raises(NotPassed, match=next(iter(field))) as refused:
        asked(field)
    assert refused.value.status == 400


def test_an_answer_that_nobody_counts_is_not_asked_for():
    with pytest.raises(NotPassed, match="background"):
        asked({"input": "x", "background": True}, api="responses")


@pytest.mark.parametrize(
    ("told", "room"),
    [
        ({}, WRITTEN),
        ({"max_tokens": 100}, 100),
        ({"max_completion_tokens": 100, "n": 3}, 300),
        ({"max_output_tokens": 10**9}, WRITTEN),
        ({"max_tokens": -1, "n": 0}, WRITTEN),
        ({"max_tokens": "many", "n": 10**9}, WRITTEN),
    ],
)
def test_room_is_kept_for_what_may_be_written(told, room):
    expected = room * 128 if told.get("n") == 10**9 else room
    assert asked(told).written == expected


@pytest.mark.parametrize("text", ["\ud800", "漢字", "\u0000"])
def test_any_text_gets_there_as_it_is(text):
    content = [{"role": "user", "content": text}]
    assert json.loads(asked({"messages": content}).body)["messages"] == content
