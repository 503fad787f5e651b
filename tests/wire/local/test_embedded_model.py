"""The embedded model as the agent loop sees it, with a real engine behind it."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from hermes_jupyter.agent.models.choice import EmbeddedModel
from hermes_jupyter.agent.models.local import LocalServer
from hermes_jupyter.errors import ModelError

QUESTION = [{"role": "user", "content": "Say hello."}]
TOOL = {
    "type": "function",
    "function": {"name": "noop", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture
def own_cache(cache, tmp_path):
    """The assembled weights, without what other tests keep beside them."""
    (cache / "models").mkdir(exist_ok=True)
    (tmp_path / "models").symlink_to(cache / "models")
    return tmp_path


def ask(model, deltas):
    return model.reply(QUESTION, (TOOL,), deltas.append)


def test_a_crash_is_one_clear_line_and_the_next_reply_works(own_cache):
    async def crash_and_go_on():
        server, deltas = LocalServer("smollm2-135m", cache=own_cache), []
        model = EmbeddedModel("smollm2-135m", server)
        await ask(model, deltas)
        os.kill(server._child._process.pid, signal.SIGKILL)
        server._child._process.wait(5)
        restarted = len(deltas)
        reply = await ask(model, deltas)
        await model.close()
        return reply, deltas, restarted

    reply, deltas, restarted = asyncio.run(crash_and_go_on())
    assert reply.text or reply.calls
    assert any(delta.kind == "notice" for delta in deltas[:restarted])


def test_a_crash_in_the_middle_of_a_reply_says_what_happened(own_cache):
    async def crash():
        server = LocalServer("smollm2-135m", cache=own_cache)
        model = EmbeddedModel("smollm2-135m", server)
        await server.start(lambda text: None)

        def kill_at_first_text(delta):
            if delta.kind == "text":
                os.kill(server._child._process.pid, signal.SIGKILL)

        try:
            long = [{"role": "user", "content": "Tell a very long story about the sea."}]
            with pytest.raises(ModelError) as caught:
                await model.reply(long, (), kill_at_first_text)
            return str(caught.value)
        finally:
            await model.close()

    said = asyncio.run(crash())
    assert "local model" in said
    assert "\n" not in said
