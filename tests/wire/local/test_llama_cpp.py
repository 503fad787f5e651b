"""The client and the loop against a second, independent server: llama.cpp's own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from hermes_jupyter.agent.asking import Patience
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.agent.models.constrained_model import ConstrainedModel
from hermes_jupyter.agent.models.providers import LLAMACPP
from hermes_jupyter.errors import ModelError, TooLongError
from hermes_jupyter.events import ModelCalled, NoticeGiven
from hermes_jupyter.testing.faults import FaultyServer, cut

SERVER = Path(__file__).with_name("llama_cpp_server.py")
WINDOW = 1_024
GREEDY = {"temperature": 0, "max_tokens": 24}
BOTH_APIS = pytest.mark.parametrize("api", ["chat", "responses"])


@pytest.fixture(scope="module")
def llama(server, cache):
    """Its address and key. ``server`` has put the weights together."""
    asyncio.run(server.start(lambda text: None))
    (weights,) = (cache / "models").rglob("*.gguf")
    command = [sys.executable, str(SERVER), str(weights), str(WINDOW)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield json.loads(process.stdout.readline())
        process.stdin.close()
        process.wait(20)


@pytest.fixture
def go(turn, llama):
    """Run a turn with this server behind it."""

    def go(prompt="Say hello.", before=(), **options):
        def model():
            given = {"provider": LLAMACPP, "api_key": llama["key"], "extra": GREEDY, **options}
            return OpenAIModel("tiny", base_url=llama["url"], **given)

        first = [partial(OpenAIModel, "scripted", base_url=server.url) for server in before]
        opened = [*first, model]
        road, tries = turn.road(), 1 if before else 2
        turn.agent = Agent(
            model=opened[0](), fallbacks=opened[1:], road=road, definitions=[], emit=turn.emit,
            budget=Budget(5), transcript=[], cwd=lambda: "", patience=Patience(tries=tries),
        )  # fmt: skip

        async def run():
            try:
                return await turn.agent.run(prompt)
            finally:
                await turn.agent.asker.model.close()

        return asyncio.run(run())

    return go


@BOTH_APIS
def test_an_answer_and_its_tokens_come_in_both_apis(go, turn, api):
    extra = {"temperature": 0, "max_output_tokens" if api == "responses" else "max_tokens": 24}
    outcome = go(api=api, extra=extra)
    assert outcome.text.strip()
    used = turn.of(ModelCalled)[0].usage
    assert used.prompt_tokens > 0
    assert 0 < used.completion_tokens <= 24
    assert (used.cost, used.unpriced_calls) == (0, 0)


def test_the_second_call_is_read_from_the_cache(go, turn):
    go("Tell me about the river Seine, please.")
    go("Tell me about the river Seine, please.")
    assert turn.of(ModelCalled)[-1].usage.cached_tokens > 10


def test_a_text_cut_at_its_length_is_the_same_as_one_that_was_not(go, turn):
    whole = go("Count to thirty.", extra={"temperature": 0, "max_tokens": 96})
    turn.events.clear()
    parts = go("Count to thirty.", extra={"temperature": 0, "max_tokens": 24})
    calls = turn.of(ModelCalled)
    assert len(calls) > 1
    assert calls[0].finish == "length"
    assert whole.text.startswith(parts.text[:40])
    assert len(parts.text) > 40


def test_it_goes_on_with_what_another_server_began(go, turn):
    begun = "The capital of France is"
    with FaultyServer(cut(f"{begun} Paris.", len(begun))) as broken:
        outcome = go("What is the capital of France?", before=[broken])
    assert outcome.text.startswith(begun)
    assert len(outcome.text) > len(begun)
    assert "going on with tiny" in turn.of(NoticeGiven)[0].text


@BOTH_APIS
def test_too_long_a_conversation_is_typed_and_says_the_window(go, api):
    with pytest.raises(TooLongError) as caught:
        go("word " * 3_000, api=api, extra={})
    assert caught.value.window == WINDOW
    assert caught.value.asked > 3_000


def test_a_wrong_key_is_one_line(go):
    with pytest.raises(ModelError, match="does not accept the API key") as caught:
        go(api_key="wrong")
    assert caught.value.kind == "auth"


def test_the_window_is_learned_from_its_list(llama):
    async def learn():
        model = OpenAIModel("tiny", base_url=llama["url"], api_key=llama["key"])
        await model.learn()
        await model.close()
        return model.window

    assert asyncio.run(learn()) >= WINDOW


PLACES = ("here", "there")
LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look somewhere.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string", "enum": [*PLACES]}},
            "required": ["place"],
        },
    },
}


def test_a_model_that_knows_no_tools_makes_a_valid_call_when_it_is_held_to_the_schema(llama):
    """SmolLM2's template has no place for tools, so llama.cpp ignores them for it."""
    request = {"role": "user", "content": "Look there.", "must_call": "any"}

    async def ask():
        inner = OpenAIModel("tiny", base_url=llama["url"], api_key=llama["key"], provider=LLAMACPP)
        model = ConstrainedModel(inner)
        try:
            return await model.reply([request], [LOOK], lambda delta: None)
        finally:
            await model.close()

    (call,) = asyncio.run(ask()).calls
    assert call.name == "look"
    assert json.loads(call.arguments)["place"] in PLACES
