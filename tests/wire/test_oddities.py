"""The client against servers that do not behave."""

import asyncio
import socket

import pytest

from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.errors import ModelError
from hermes_jupyter.testing.oddities import as_chunks, streamed


def test_llama_cpp_repeats_the_name_and_refuses_null(serve, ask):
    call = {"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Read"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "empty"},
    ]
    (made,) = ask(serve("llama_cpp").url, messages).reply.calls
    assert (made.name, made.arguments) == ("read_file", '{"path": "a.txt"}')


@pytest.mark.parametrize(
    ("oddity", "kind", "words"),
    [
        ("broken_stream", "broken", "broke after 13 characters"),
        ("truncated_stream", "broken", "broke after 13 characters"),
        ("not_json", "broken", "broke after 4 characters"),
        ("empty_stream", "broken", "broke after 0 characters"),
        ("error_in_stream", "broken", "the worker died"),
        ("html", "malformed", "is not an OpenAI-compatible endpoint (got HTML)"),
        ("401", "auth", "does not accept the API key"),
        ("404", "not_found", "it offers stub-small"),
        ("429", "rate_limit", "wait 2 s"),
        ("500", "server", "Internal server error"),
        ("context", "context", "4096"),
    ],
)
def test_a_failure_is_one_clear_line(serve, ask, oddity, kind, words):
    with pytest.raises(ModelError) as caught:
        ask(serve(oddity).url, name="stub-smal", api_key="sk-very-secret")
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert "sk-very-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_without_finish_and_usage_is_understood(serve, ask):
    asked = ask(serve("no_finish").url)
    assert asked.shown == asked.reply.text == "Done."
    assert (asked.reply.finish, asked.reply.usage.prompt_tokens) == ("stop", 0)


def test_a_whole_completion_in_the_place_of_a_stream_is_accepted(serve, ask):
    asked = ask(serve("non_stream_json").url)
    assert asked.shown == asked.reply.text == "I look."
    assert [call.id for call in asked.reply.calls] == ["call_1"]
    assert asked.reply.usage.prompt_tokens == 7


def test_a_server_without_stream_options_is_asked_again_without(serve, ask):
    server = serve("no_stream_options")
    assert ask(server.url).reply.text == "Done."
    assert ["stream_options" in body for _, body in server.requests] == [True, False]


def test_a_printed_call_is_not_shown_over_the_wire(serve, ask):
    text = 'I look.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
    server = serve(streamed(*as_chunks(*({"content": letter} for letter in text))))
    asked = ask(server.url)
    assert (asked.shown, asked.reply.text) == ("I look.", "I look.")
    assert [call.arguments for call in asked.reply.calls] == ['{"path": "a"}']


def test_without_a_name_the_first_model_offered_is_asked(serve, ask):
    server = serve("no_finish")
    asked = ask(server.url, name="")
    assert server.requests[-1][1]["model"] == asked.model.name == "stub-small"


def test_a_closed_port_is_a_question_about_the_server(ask):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets it
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match="is the server running") as caught:
            ask(url)
    assert (caught.value.kind, url in str(caught.value)) == ("connection", True)


def test_an_unknown_host_is_named(ask, monkeypatch):
    async def fail(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", fail)
    with pytest.raises(ModelError, match=r"cannot find the host 'no\.such\.host'") as caught:
        ask("http://no.such.host/v1")
    assert caught.value.kind == "connection"


def test_silence_is_a_timeout(serve, ask):
    with pytest.raises(ModelError, match=r"within 0\.2 s") as caught:
        ask(serve("silent").url, timeout=0.2)
    assert caught.value.kind == "timeout"


def test_a_cancelled_question_closes_the_connection_at_once(serve):
    server = serve("slow")

    async def ask_and_cancel():
        model = OpenAIModel("stub-small", base_url=server.url)
        shown = asyncio.Event()
        asking = asyncio.ensure_future(model.reply([], (), lambda delta: shown.set()))
        await shown.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.get_running_loop().run_in_executor(None, server.abandoned.wait, 5)
        await model.close()

    asyncio.run(ask_and_cancel())


def test_one_model_answers_several_questions(serve):
    server = serve("no_finish")

    async def ask_twice():
        model = OpenAIModel("stub-small", base_url=server.url)
        first = await model.reply([], (), lambda delta: None)
        second = await model.reply([], (), lambda delta: None)
        await model.close()
        return first.text, second.text

    assert asyncio.run(ask_twice()) == ("Done.", "Done.")


def test_names_of_models_are_listed(serve):
    async def listed():
        model = OpenAIModel("", base_url=serve("no_finish").url)
        names = await model.list_models()
        await model.close()
        return names

    assert asyncio.run(listed()) == ["stub-small", "stub-large"]
