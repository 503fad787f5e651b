"""A small model behind a server that can hold replies to a schema."""

import asyncio
import json

import pytest

from hermes_jupyter.agent.models.choice import choose
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.agent.models.constrained_model import ConstrainedModel
from hermes_jupyter.agent.models.providers import PROVIDERS
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing.scripted_server import ScriptedServer
from hermes_jupyter.testing.scripts import as_reply
from hermes_jupyter.testing.stub_server import StubServer
from hermes_jupyter.testing.writers import write

READ = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file. Much more is said here.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}},
            "required": ["path"],
        },
    },
}
SYSTEM = {"role": "system", "content": "You are in /data."}
ASKED = {"role": "user", "content": "What is in a.txt?"}
CALL = '{"tool": "read_file", "arguments": {"path": "a.txt"}}'


def asked_of(server, messages=(SYSTEM, ASKED), tools=(READ,), **options):
    """The reply, and the pieces that were shown of it."""
    shown = []

    async def ask():
        model = ConstrainedModel(OpenAIModel("m", base_url=server.url), **options)
        try:
            return await model.reply(messages, tools, shown.append)
        finally:
            await model.close()

    reply = asyncio.run(ask())
    return reply, "".join(delta.text for delta in shown)


def test_a_call_in_the_form_of_the_schema_is_a_call():
    with ScriptedServer(CALL) as server:
        reply, shown = asked_of(server)
    (call,) = reply.calls
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.txt"})
    assert (reply.text, reply.finish, shown) == ("", "tool_calls", "")


def test_an_answer_in_the_form_of_the_schema_is_text():
    with ScriptedServer('{"final": "It says \\"hi\\".\\n"}') as server:
        reply, shown = asked_of(server)
    assert reply.text == shown == 'It says "hi".\n'
    assert reply.calls == ()


def test_the_server_is_asked_for_the_schema_and_shown_examples():
    with ScriptedServer(CALL) as server:
        asked_of(server)
    ((_, body),) = server.requests
    assert body["response_format"]["type"] == "json_schema"
    assert body["temperature"] == 0
    assert body["max_tokens"] > 0
    assert "tools" not in body
    roles = [message["role"] for message in body["messages"]]
    assert roles.count("system") == 1
    assert "You are in /data." in body["messages"][0]["content"]
    assert body["messages"][-1] == ASKED
    assert len(roles) > 6


def test_a_message_that_wants_a_call_leaves_no_other_way():
    with ScriptedServer(CALL) as server:
        asked_of(server, (SYSTEM, {**ASKED, "must_call": "any"}))
    ((_, body),) = server.requests
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["tool", "arguments"]


PLANNED = '{"plan": "read a.txt, \\"then\\" answer", ' + CALL[1:]
PLAN = 'read a.txt, "then" answer'


def test_a_plan_is_a_thought_and_the_model_sees_it_again():
    with ScriptedServer(PLANNED) as server:
        reply, shown = asked_of(server, plan=True)
    assert (reply.reasoning, shown) == (PLAN, PLAN)
    call = {"id": "1", "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call], "extras": reply.extras}
    result = {"role": "tool", "tool_call_id": "1", "content": "hi"}
    with ScriptedServer('{"final": "hi"}') as server:
        asked_of(server, (SYSTEM, ASKED, said, result), plan=True)
    sent = server.requests[0][1]
    assert json.loads(sent["messages"][-2]["content"])["plan"] == PLAN
    schema = json.dumps(sent["response_format"])
    assert '"plan"' not in schema  # only the first reply has one


def test_the_answer_behind_a_plan_is_shown_alone():
    with ScriptedServer('{"plan": "answer \\u00e9 at once", "final": "Paris."}') as server:
        reply, shown = asked_of(server, plan=True)
    assert reply.text == "Paris."
    assert shown == "Paris.answer é at once"
    assert '"plan"' in json.dumps(server.requests[0][1]["response_format"])


def test_a_server_that_refuses_the_schema_is_asked_without_it():
    def answer(exchange):
        if "response_format" in exchange.body:
            exchange.send_error(400, "Unknown parameter: response_format")
        else:
            write(exchange, as_reply(CALL, 1), 0.0)

    with StubServer(answer) as server:
        reply, _ = asked_of(server)
    assert [call.name for call in reply.calls] == ["read_file"]


@pytest.mark.parametrize(
    ("written", "text", "calls"),
    [
        ("The file says hi.", "The file says hi.", []),
        ('{"name": "read_file", "arguments": {"path": "a.txt"}}', "", ["read_file"]),
        ('<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>', "",
         ["read_file"]),
        ('{"rows": 3}', '{"rows": 3}', []),
        ("[1, 2]", "[1, 2]", []),
    ],
)  # fmt: skip
def test_what_was_not_held_to_the_schema_is_read_all_the_same(written, text, calls):
    with ScriptedServer(written) as server:
        reply, shown = asked_of(server)
    assert reply.text == shown == text
    assert [call.name for call in reply.calls] == calls


def test_without_tools_it_is_asked_as_any_other():
    with ScriptedServer("Hello.") as server:
        reply, shown = asked_of(server, tools=())
    assert reply.text == shown == "Hello."
    assert "response_format" not in server.requests[0][1]


@pytest.mark.parametrize(
    ("model", "provider", "profile", "expected"),
    [
        ("qwen2.5:1.5b", "ollama", "auto", True),
        ("gpt-oss:20b", "ollama", "auto", False),
        ("gpt-oss:20b", "ollama", "small", True),
        ("qwen2.5:1.5b", "ollama", "full", False),
        ("qwen2.5:1.5b", "openrouter", "auto", False),
    ],
)
def test_small_models_are_held_to_a_schema_where_the_server_can_do_that(
    model, provider, profile, expected
):
    chosen = choose("", Settings(model=model, provider=provider, profile=profile))
    assert isinstance(chosen, ConstrainedModel) == expected


def test_the_servers_of_ones_own_machine_can_do_that():
    assert {each.name for each in PROVIDERS if each.json_schema} == {
        "llamacpp", "lmstudio", "ollama", "vllm",
    }  # fmt: skip
