"""How large a model's window is, as far as its server says so when it is asked anyway."""

import asyncio

import pytest

from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.testing.oddities import chunk


def offering(*models):
    def answer(exchange):
        if exchange.path.endswith("/models"):
            exchange.send_json({"object": "list", "data": list(models)})
            return
        exchange.begin_stream()
        exchange.send_event(chunk("stop", content="Hello"))
        exchange.send_event("[DONE]")
        exchange.end_stream()

    return answer


SMALL = {"id": "small", "max_model_len": 4_096}
LARGE = {"id": "large", "context_length": 200_000}


@pytest.mark.parametrize(("told", "known"), [(0, 4_096), (1_000, 1_000)])
def test_the_first_model_that_is_offered_brings_its_window(ask, serve, told, known):
    server = serve(offering(SMALL, LARGE))
    asked = ask(server.url, name="", window=told)
    assert (asked.model.name, asked.model.window) == ("small", known)


def test_a_model_with_a_name_is_not_asked_about_only_for_its_window(ask, serve):
    server = serve(offering(SMALL, LARGE))
    assert ask(server.url, name="large").model.window == 0
    assert not [path for path, _ in server.requests if path.endswith("/models")]


def test_when_the_models_are_listed_the_named_one_brings_its_window(serve):
    server = serve(offering(SMALL, LARGE))

    async def listed():
        model = OpenAIModel("large", base_url=server.url)
        names = await model.list_models()
        await model.close()
        return names, model.window

    assert asyncio.run(listed()) == (["small", "large"], 200_000)
