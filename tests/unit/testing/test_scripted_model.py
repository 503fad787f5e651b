"""The scripted model, which other tests rely on."""

import asyncio
import json

import pytest

from hermes_jupyter.agent.models.base import Delta, Reply
from hermes_jupyter.errors import ModelError
from hermes_jupyter.testing import ScriptedModel, call


def ask(model, messages=(), tools=()):
    deltas = []
    return asyncio.run(model.reply(messages, tools, deltas.append)), deltas


def test_text_is_streamed_in_pieces():
    reply, deltas = ask(ScriptedModel("A sentence of more than twelve characters."))
    assert "".join(delta.text for delta in deltas) == reply.text
    assert len(deltas) > 1
    assert (reply.finish, reply.usage.model_calls) == ("stop", 1)


def test_text_thoughts_and_calls_go_together():
    model = ScriptedModel((Delta("reasoning", "Hm."), "I look.", call("read", path="ä")))
    reply, _ = ask(model)
    assert (reply.reasoning, reply.text, reply.finish) == ("Hm.", "I look.", "tool_calls")
    assert json.loads(reply.calls[0].arguments) == {"path": "ä"}


def test_every_call_has_an_id_of_its_own():
    model = ScriptedModel((call("a"), call("a")), call("a"))
    ids = [made.id for _ in range(2) for made in ask(model)[0].calls]
    assert len(set(ids)) == 3


def test_a_function_sees_what_was_asked():
    model = ScriptedModel(lambda messages, tools: messages[-1]["content"].upper())
    assert ask(model, [{"role": "user", "content": "hi"}])[0].text == "HI"


def test_an_exception_is_raised_and_a_reply_given_as_it_is():
    model = ScriptedModel(ModelError("no", kind="server"), Reply(text="cut", finish="length"))
    with pytest.raises(ModelError):
        ask(model)
    assert ask(model)[0].finish == "length"


def test_requests_are_kept_as_they_were():
    model, messages = ScriptedModel("a", "b"), [{"role": "user", "content": "hi"}]
    ask(model, messages, [{"name": "t"}])
    messages[0]["content"] = "changed"
    assert model.requests[0].messages == [{"role": "user", "content": "hi"}]
    assert model.requests[0].tools == [{"name": "t"}]


def test_a_script_that_is_too_short_fails_the_test():
    with pytest.raises(AssertionError, match="0 replies, not 1"):
        ask(ScriptedModel())
