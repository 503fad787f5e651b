"""The embedded model over the wire: what any OpenAI client may rely on."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import subprocess
import sys
import time
import urllib.error
import urllib.request

import openai
import pytest

from hermes_jupyter.agent.models.local import LocalServer
from hermes_jupyter.errors import ModelError

READ = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}
HELLO = [{"role": "user", "content": "Hello!"}]
STORY = [{"role": "user", "content": "Tell a very long story about a dragon and a knight."}]


@pytest.fixture
def client(endpoint):
    with openai.OpenAI(
        base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, timeout=60
    ) as client:
        yield client


def ask(client, messages=HELLO, **options):
    return client.chat.completions.create(model="local", messages=messages, **options)


def test_a_plain_request_is_answered(client):
    reply = ask(client, max_tokens=8)
    assert reply.choices[0].message.content
    assert reply.usage.completion_tokens <= 8


def test_a_required_call_comes_back_as_a_tool_call(client):
    choice = ask(client, tools=[READ], tool_choice="required").choices[0]
    (call,) = choice.message.tool_calls
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert (call.type, call.function.name) == ("function", "read_file")
    assert set(json.loads(call.function.arguments)) == {"path"}


def test_a_streamed_call_is_one_delta_and_usage_comes_last(client):
    options = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(ask(client, tools=[READ], tool_choice="required", **options))
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    (call,) = [call for delta in deltas for call in delta.tool_calls or []]
    assert call.id.startswith("call_")
    assert json.loads(call.function.arguments)
    assert chunks[-2].choices[0].finish_reason == "tool_calls"
    assert (chunks[-1].choices, chunks[-1].usage.prompt_tokens > 0) == ([], True)


def test_a_final_text_is_streamed_in_pieces(client):
    chunks = list(ask(client, tools=[READ], stream=True, max_tokens=60))
    pieces = [choice.delta.content for chunk in chunks for choice in chunk.choices]
    assert len([piece for piece in pieces if piece]) > 3
    assert "final" not in "".join(piece or "" for piece in pieces)


def test_no_tools_are_shown_when_the_choice_is_none(client):
    choice = ask(client, tools=[READ], tool_choice="none", max_tokens=8).choices[0]
    assert not choice.message.tool_calls


def test_a_second_request_reads_only_what_is_new(client):
    ask(client, tools=[READ], max_tokens=4)
    usage = ask(client, [*HELLO, *HELLO], tools=[READ], max_tokens=4).usage
    assert usage.prompt_tokens_details.cached_tokens > usage.prompt_tokens / 2


@pytest.mark.parametrize("options", [{}, {"tools": [READ], "tool_choice": "required"}])
def test_a_caller_that_hangs_up_frees_the_engine(client, options):
    """The engine has one slot: a next answer in time means that it stopped the story."""
    ask(client, **options, max_tokens=1)
    stream = ask(client, STORY, stream=True, max_tokens=4000, **options)
    next(iter(stream))
    stream.close()
    began = time.monotonic()
    ask(client, max_tokens=1)
    assert time.monotonic() - began < 15


def test_a_wrong_key_is_refused(endpoint):
    with (
        openai.OpenAI(base_url=endpoint.base_url, api_key="wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.models.list()


@pytest.mark.parametrize("options", [{}, {"tools": [READ]}, {"tools": [READ], "stream": True}])
def test_too_long_a_conversation_is_a_context_error(client, options):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, [{"role": "user", "content": "word " * 10_000}], **options)
    assert caught.value.type == "exceed_context_size_error"


@pytest.mark.parametrize(
    "body",
    [
        b"{no json",
        b"[]",
        b"{}",
        b'{"messages": []}',
        b'{"messages": [{"role": "user"}], "tools": [{}]}',
        b'{"messages": ["hello"], "tools": [{"function": {"name": "x"}}]}',
    ],
)
def test_a_bad_request_says_what_is_wrong(endpoint, body):
    headers = {"Authorization": f"Bearer {endpoint.api_key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{endpoint.base_url}/chat/completions", body, headers)
    with (
        pytest.raises(urllib.error.HTTPError) as caught,
        urllib.request.urlopen(request, timeout=9),
    ):
        pass
    with caught.value as error:
        assert error.code == 400
        assert json.load(error)["error"]["message"]


@pytest.fixture
def stopped(cache):
    """A server of this test alone, not started."""
    server = LocalServer("smollm2-135m", cache=cache)
    yield server
    server.stop()


def started(server, notice=lambda text: None):
    return asyncio.run(server.start(notice))


def test_starts_at_the_same_time_share_one_child(stopped):
    async def both():
        return await asyncio.gather(stopped.start(print), stopped.start(print))

    first, second = asyncio.run(both())
    assert first == second


def test_a_start_that_is_given_up_goes_on_for_the_next(stopped):
    async def give_up():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stopped.start(print), 0.01)
        return stopped._child

    assert asyncio.run(give_up()).ready.result(30) == started(stopped)


def test_a_start_tells_how_far_it_is(stopped):
    told = []
    started(stopped, told.append)
    assert told[-1] == "Loading the local model: starting"


def test_the_next_kernel_need_not_read_the_beginning_again(stopped, client, server):
    ask(client, tools=[READ], max_tokens=4)
    endpoint = started(stopped)
    with openai.OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key) as second:
        usage = ask(second, tools=[READ], max_tokens=4).usage
    assert usage.prompt_tokens_details.cached_tokens > usage.prompt_tokens / 2


@pytest.mark.parametrize("content", [b"", b"no state of an engine"])
def test_a_damaged_beginning_is_read_anew(stopped, client, cache, content):
    ask(client, tools=[READ], max_tokens=4)
    (kept,) = (cache / "prefixes").glob("*.slot")
    kept.write_bytes(content)
    endpoint = started(stopped)
    with openai.OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key) as second:
        assert ask(second, tools=[READ], max_tokens=4).choices
    assert kept.stat().st_size > 1000


def test_a_crash_is_one_line_and_the_next_start_works(stopped):
    first = started(stopped)
    child = stopped._child._process
    child.kill()
    child.wait(10)
    failure = stopped.failure()
    assert (type(failure), failure.kind) == (ModelError, "server")
    assert re.search(r"^[^\n]*SIGKILL[^\n]*$", str(failure))
    assert started(stopped) != first
    assert stopped.failure() is None


def test_a_file_that_is_no_model_says_so(cache, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF and nothing more")
    server = LocalServer(str(broken), cache=cache)
    with pytest.raises(ModelError, match=r"broken\.gguf"):
        started(server)
    server.stop()


def test_missing_weights_come_through_with_their_remedy(cache):
    server = LocalServer("nonsense", cache=cache)
    with pytest.raises(ModelError, match="'nonsense'") as caught:
        started(server)
    assert caught.value.kind == "no_model"
    server.stop()


PARENT = """
import asyncio, sys
from pathlib import Path
from hermes_jupyter.agent.models.local import LocalServer
server = LocalServer("smollm2-135m", cache=Path(sys.argv[1]))
asyncio.run(server.start(lambda text: None))
heavy = {"xllamacpp", "huggingface_hub", "openai", "http.server"} & set(sys.modules)
print(server._child._process.pid, sorted(heavy), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def parent(cache):
    """A process with a running child; yields it, the child's pid and the heavy imports."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(cache)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with process:
        pid, _, heavy = process.stdout.readline().partition(" ")
        yield process, int(pid), heavy.strip()
        process.kill()


def ends(pid):
    """Whether the process ends within ten seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 10)[0])
    finally:
        os.close(handle)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to watch a process end")
def test_the_child_ends_with_its_parent_however_that_ends(parent):
    process, child, _ = parent
    process.kill()
    assert ends(child)


def test_an_interrupt_of_the_parent_is_not_meant_for_the_child(parent):
    process, child, _ = parent
    assert os.getpgid(child) != os.getpgid(process.pid)


def test_the_kernel_imports_nothing_heavy(parent):
    assert parent[2] == "[]"


def test_the_key_is_not_in_the_arguments(server, endpoint):
    arguments = subprocess.run(
        ["ps", "-o", "args=", "-p", str(server._child._process.pid)],
        capture_output=True, text=True, timeout=10, check=True,
    )  # fmt: skip
    assert endpoint.api_key not in arguments.stdout
