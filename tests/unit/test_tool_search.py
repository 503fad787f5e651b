"""Turns of a kernel that has more tools than its model can be shown."""

import asyncio
import json

import pytest

from hermes_jupyter.agent.tool_search.deferral import tokens_of
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn_values import TurnOptions
from tools.registry import tool_result

WINDOW = 32_000


@pytest.fixture
def hermes(tmp_path):
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1"))
    register = made.session().overlay.register
    for number in range(300):
        schema = {"description": f"Send message {number}. " + "x " * 50}
        register(f"chat_{number:03}", "mcp-chat", schema, lambda args, **_: tool_result(sent=True))
    yield made
    asyncio.run(made.close())


def run(hermes, *replies):
    """Take a turn; the tools that the model was shown at each request."""
    model = ScriptedModel(*replies, window=WINDOW)
    hermes.model = lambda settings: model

    async def turn():
        await hermes.turn("go", session=hermes.session(), options=TurnOptions(), listeners=[])
        await asyncio.gather(*hermes.tool_usage._saves)

    asyncio.run(turn())
    return [request.tools for request in model.requests]


def names(tools):
    return [tool["function"]["name"] for tool in tools]


def test_the_definitions_stay_below_the_share_of_the_window(hermes):
    (shown,) = run(hermes, "done")
    assert sum(map(tokens_of, shown)) <= WINDOW * 0.1
    assert {"terminal", "read_file", "tool_search", "tool_call"} <= set(names(shown))


def test_every_request_of_a_session_shows_the_same(hermes):
    first = run(hermes, call("chat_299"), "done")
    second = run(hermes, "done")
    assert len({json.dumps(tools) for tools in first + second}) == 1


def test_what_was_used_is_shown_in_the_next_session(hermes):
    wrapped = call("tool_call", **{"name": "chat_299", "arguments": {}})
    (shown, _) = run(hermes, wrapped, "done")
    assert "chat_299" not in names(shown)
    counts = hermes.tool_usage.counts()
    assert counts == {"chat_299": 1}
    overlay = hermes.session().overlay
    hermes.new_session().overlay = overlay
    (shown,) = run(hermes, "done")
    assert "chat_299" in names(shown)


@pytest.mark.parametrize(("share", "limit", "all_are_shown"), [(0, 128, True), (100, 128, False),
                                                               (100, 0, True)])  # fmt: skip
def test_the_settings_decide(hermes, share, limit, all_are_shown):
    home, url = hermes.settings.home, hermes.settings.base_url
    hermes.settings = Settings(home=home, base_url=url, tool_search_share=share, tool_limit=limit)
    (shown,) = run(hermes, "done")
    assert ("tool_search" not in names(shown)) is all_are_shown
    assert (len(shown) > 300) is all_are_shown


def test_a_call_that_never_came_to_run_is_no_use_of_the_tool(hermes):
    run(hermes, call("nothing"), call("terminal", wrong=1), "done")
    assert hermes.tool_usage.counts() == {}
