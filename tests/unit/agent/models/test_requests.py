"""What is sent, to whom."""

import json
import time

import pytest

from hermes_jupyter.agent.models.providers import CUSTOM, PROVIDERS, named, provider_at
from hermes_jupyter.agent.models.requests import Requests

LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look.",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"default": {"type": "string", "default": "x"}},
        },
    },
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,xx"}}


def user(content):
    return {"role": "user", "content": content}


def asks(name="look", identity="call_123", **extras):
    call = {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **extras}


def answers(identity="call_123"):
    return {"role": "tool", "tool_call_id": identity, "content": "seen"}


def requests_to(name="custom", api="chat", **extra):
    return Requests(named(name), extra, api)


def sent(requests, messages, tools=(), limit=0):
    return json.loads(requests.body("m", messages, tools, limit))


def test_everything_sent_is_json_that_any_server_reads():
    content = "lone \ud83d, pair \ud83d\ude00, é"
    message = {"role": "user", "content": content, "score": float("nan"), "n": (1, None)}
    got = sent(requests_to(), [message])["messages"][0]
    assert got["content"] == "lone \ufffd, pair 😀, é"
    assert (got["score"], got["n"]) == ("nan", [1, None])


def test_a_message_without_text_is_sent_with_an_empty_one():
    message = asks()
    assert sent(requests_to(), [message])["messages"][0]["content"] == ""
    assert message["content"] is None


def test_a_tool_is_offered_once():
    tools = [{"type": "function", "function": {"name": name}} for name in ("a", "b", "a")]
    got = sent(requests_to(), [user("x")], tools)["tools"]
    assert [tool["function"]["name"] for tool in got] == ["a", "b"]


def test_no_tools_are_no_field_and_extra_fields_win():
    got = sent(requests_to(temperature=0, stream_options=None), [user("x")])
    assert "tools" not in got
    assert (got["temperature"], got["stream_options"]) == (0, None)


def test_what_was_sent_before_is_sent_again_byte_for_byte():
    requests = requests_to()
    messages = [user("one"), asks(), answers()]
    first = requests.body("m", messages, [LOOK], 0)
    nudged = requests.body("m", [*messages, user("nudge")], [LOOK], 0)
    later = requests.body("m", [*messages, user("two")], [LOOK], 0)
    assert nudged.startswith(first[:-2])
    assert later.startswith(first[:-2])
    assert b"nudge" not in later
    assert json.loads(later)["messages"][-1] == user("two")


def test_conversations_in_turns_do_not_mix():
    requests = requests_to()
    one, other = [user("one"), asks()], [user("other")]
    for _ in range(3):
        assert len(sent(requests, one)["messages"]) == len(one)
        assert sent(requests, other)["messages"] == other
        one.append(answers())


def test_a_long_conversation_costs_what_is_new_in_it():
    requests, messages = requests_to(), [user("start")]
    for number in range(4_000):
        messages += [asks(identity=f"call_{number}"), answers(f"call_{number}")]
    requests.body("m", messages, [LOOK], 0)
    messages.append(user("next"))
    began = time.process_time()
    for _ in range(20):
        requests.body("m", messages, [LOOK], 0)
    assert (time.process_time() - began) / 20 < 0.01  # writing all of it takes 50 ms


@pytest.mark.parametrize(
    ("name", "field"),
    [("custom", "max_tokens"), ("openai", "max_completion_tokens")],
)
def test_the_length_of_an_answer_is_bounded_in_the_providers_own_word(name, field):
    assert sent(requests_to(name), [user("x")], limit=9)[field] == 9


def test_a_field_that_is_rejected_is_left_out_from_then_on():
    requests = requests_to("openai")
    requests.body("m", [user("x")], (), 9)
    assert requests.leave_out(lambda name: name == "max_completion_tokens")
    assert sent(requests, [user("x")], limit=9)["max_tokens"] == 9
    assert requests.leave_out(lambda name: name == "stream_options")
    assert "stream_options" not in sent(requests, [user("x")])
    assert not requests.leave_out(lambda name: name == "stream_options")


def test_a_summary_keeps_the_tools_where_the_cache_hangs_on_them():
    told = [user("x"), asks(), answers()]
    cautious, caching = requests_to("llamacpp"), requests_to("openai")
    for requests in (cautious, caching):
        requests.body("m", told, [LOOK], 0)
    assert "tools" not in sent(cautious, told)
    assert sent(caching, told)["tool_choice"] == "none"
    assert sent(caching, told)["tools"][0]["function"]["name"] == "look"
    assert "tools" not in sent(caching, [user("allow?")])


def test_ids_of_calls_have_the_length_that_mistral_wants():
    told = sent(requests_to("mistral"), [asks(), answers()])["messages"]
    identity = told[0]["tool_calls"][0]["id"]
    assert told[1]["tool_call_id"] == identity
    assert len(identity) == 9


def test_schemas_go_to_gemini_without_the_words_that_it_rejects():
    tool = sent(requests_to("gemini"), [user("x")], [LOOK])["tools"][0]["function"]
    assert tool["parameters"] == {
        "type": "object",
        "properties": {"default": {"type": "string"}},  # a parameter's name is no such word
    }


def test_what_a_model_wants_back_goes_back_to_it_and_to_no_other():
    extras = {
        "model": "m",
        "message": {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        "calls": [{"extra_content": {"google": {"thought_signature": "s"}}}],
    }
    message = asks(extras=extras)
    got = sent(requests_to("openrouter"), [message])["messages"][0]
    assert got["reasoning_details"][0]["text"] == "hm"
    assert got["tool_calls"][0]["extra_content"]["google"]["thought_signature"] == "s"
    plain = sent(requests_to("custom"), [message])["messages"][0]
    other = json.loads(requests_to("openrouter").body("else", [message], (), 0))["messages"][0]
    for each in (plain, other):
        assert set(each) == {"role", "content", "tool_calls"}


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_images_can_be_left_out(api):
    requests = requests_to(api=api)
    message = user([{"type": "text", "text": "what is this?"}, PICTURE])
    assert "base64" in json.dumps(sent(requests, [message]))
    assert requests.drop_images()
    got = json.dumps(sent(requests, [message]))
    assert "base64" not in got
    assert "An image was here" in got
    assert not requests.drop_images()


def test_an_unfinished_answer_is_marked_where_the_server_wants_that():
    begun = {"role": "assistant", "content": "The ", "unfinished": True}
    assert sent(requests_to("vllm"), [begun])["continue_final_message"] is True
    assert sent(requests_to("mistral"), [begun])["messages"][0]["prefix"] is True
    assert sent(requests_to("llamacpp"), [begun])["messages"] == [
        {"role": "assistant", "content": "The "}
    ]


def test_a_conversation_as_items_of_the_responses_api():
    extras = {"model": "m", "items": [{"type": "reasoning", "encrypted_content": "e"}]}
    told = [{"role": "system", "content": "be brief"}, user("x"), asks(extras=extras), answers()]
    body = sent(requests_to("openai", "responses"), told, [LOOK], 9)
    assert [item["type"] for item in body["input"]] == [
        "message", "message", "reasoning", "function_call", "function_call_output",
    ]  # fmt: skip
    assert body["input"][3]["call_id"] == body["input"][4]["call_id"] == "call_123"
    assert body["tools"][0]["name"] == "look"
    assert (body["store"], body["max_output_tokens"]) == (False, 9)
    assert "messages" not in body


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://evil-openrouter.ai/api/v1", "custom"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://localhost:8000/v1", "vllm"),
        ("http://192.168.1.5:8080/v1", "llamacpp"),
        ("https://example.org:11434/v1", "custom"),
        ("http://localhost:9/v1", "custom"),
    ],
)
def test_an_address_tells_the_provider(url, name):
    assert provider_at(url).name == name


def test_every_provider_has_an_address_and_is_found_by_it():
    for provider in PROVIDERS:
        assert provider_at(provider.base_url) is provider
        assert named(provider.name.upper()) is provider
    assert named("google").name == "gemini"
    assert named("nobody") is None
    assert named("custom") is CUSTOM


@pytest.mark.parametrize(
    ("wanted", "choice"),
    [
        ("any", "required"),
        ("look", {"type": "function", "function": {"name": "look"}}),
        ("absent", "required"),
    ],
)
def test_a_message_that_wants_a_call_asks_for_one(wanted, choice):
    got = sent(requests_to(), [{**user("read it"), "must_call": wanted}], [LOOK])
    assert got["tool_choice"] == choice
    assert got["messages"] == [user("read it")]


def test_where_there_are_no_tools_none_is_asked_for():
    assert "tool_choice" not in sent(requests_to(), [{**user("read it"), "must_call": "any"}])


def test_other_messages_leave_the_choice_to_the_model():
    assert "tool_choice" not in sent(requests_to(), [user("read it")], [LOOK])
