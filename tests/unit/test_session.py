import asyncio

import pytest

from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import ConfigurationError, ModelError, TurnError
from hermes_jupyter.events import TurnFinished
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.turn_values import TurnOptions


@pytest.fixture
def hermes(tmp_path):
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1"))
    yield made
    asyncio.run(made.close())


def turn(hermes, model, listeners=(), **options):
    hermes.model = lambda settings: model
    session = hermes.session()
    return hermes.turn(
        "go", session=session, options=TurnOptions(**options), listeners=list(listeners)
    )


def test_a_failed_turn_keeps_the_tokens_it_used(hermes):
    events = []
    model = ScriptedModel((call("todo"),), ModelError("gone", kind="auth"))
    with pytest.raises(ModelError, match="gone"):
        asyncio.run(turn(hermes, model, [events.append]))
    (finished,) = [event for event in events if isinstance(event, TurnFinished)]
    assert (finished.status, finished.reason) == ("failed", "gone")
    assert finished.usage.prompt_tokens > 0
    assert hermes.session().usage == finished.usage != Usage()


def test_a_listener_that_raises_does_not_end_the_turn(hermes):
    def broken(event):
        raise RuntimeError

    assert asyncio.run(turn(hermes, ScriptedModel("done"), [broken])).text == "done"


def test_a_session_runs_one_turn_at_a_time(hermes):
    async def two():
        first = asyncio.create_task(turn(hermes, ScriptedModel("slow" * 20, delay=0.02)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(TurnError, match="busy"):
            await turn(hermes, ScriptedModel("second"))
        return await first

    assert asyncio.run(two()).status == "done"


def test_a_busy_session_cannot_be_begun_anew_but_an_idle_one_can(hermes):
    asyncio.run(turn(hermes, ScriptedModel("done")))
    assert len(hermes.session().transcript) == 3
    assert hermes.new_session().transcript == []


@pytest.mark.parametrize(
    "wrong", [{"approve": "maybe"}, {"tools": ("no_such_set",)}, {"max_steps": -1}]
)
def test_wrong_options_are_named(hermes, wrong):
    (value,) = wrong.values()
    named = value[0] if isinstance(value, tuple) else str(value)
    with pytest.raises(ConfigurationError, match=named):
        asyncio.run(turn(hermes, ScriptedModel("done"), **wrong))


def test_the_system_prompt_stays_the_same_bytes(hermes):
    model = ScriptedModel("one", "two")
    asyncio.run(turn(hermes, model))
    asyncio.run(turn(hermes, model, no_tools=True))
    first, second = (request.messages[0] for request in model.requests)
    assert first == second


@pytest.mark.parametrize(
    ("model", "profile", "expected"),
    [
        ("qwen2.5:1.5b", "auto", True),
        ("big", "auto", False),
        ("big", "small", True),
        ("qwen2.5:1.5b", "full", False),
    ],
)
def test_a_small_model_gets_few_tools_and_a_short_prompt(tmp_path, model, profile, expected):
    url = "http://127.0.0.1:9/v1"
    made = Hermes(Settings(home=tmp_path, base_url=url, model=model, profile=profile))
    scripted = ScriptedModel("hello")
    asyncio.run(turn(made, scripted))
    (request,) = scripted.requests
    names = {tool["function"]["name"] for tool in request.tools}
    few = {"patch", "read_file", "search_files", "terminal", "write_file"}
    assert (names == few) == expected
    assert (len(request.messages[0]["content"]) < 400) == expected
    asyncio.run(made.close())


def test_a_plan_gets_no_second_look(tmp_path):
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1", profile="small"))
    made.model = lambda settings: ScriptedModel("I would write a.txt.")
    session = made.session()
    ended = asyncio.run(
        made.turn(
            "Write a.txt.", session=session, options=TurnOptions(approve="plan"), listeners=[]
        )
    )
    assert ended.text == "I would write a.txt."
    asyncio.run(made.close())
