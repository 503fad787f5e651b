import asyncio
import json

import pytest

from hermes_jupyter.agents_settings import MixtureSettings
from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import ModelError
from hermes_jupyter.events import ChildTold, ModelCalled
from hermes_jupyter.model_settings import ModelChoice
from hermes_jupyter.testing import ScriptedModel, call
from hermes_jupyter.testing.scripted_server import conversation
from tools.availability import check

ASK = conversation("^share", (call("mixture_of_agents", user_prompt="How many?"),), "They say 3.")


def choices(*names):
    return tuple(ModelChoice(model=name) for name in names)


def asked_of(desk, **models):
    """Have these models stand behind the names."""
    chosen = {}

    def open_model(choice, settings):
        chosen[choice.model] = choice
        return models[choice.model]

    desk.hermes.chosen_model = open_model
    return chosen


def told_last(model):
    return model.requests[-1].messages


def test_several_models_are_asked_and_one_makes_an_answer_of_theirs(open_desk):
    mixture = MixtureSettings(
        reference_models=choices("a", "b"), aggregator_model=ModelChoice(model="c")
    )
    desk = open_desk(ASK, mixture=mixture)
    models = {name: ScriptedModel(f"{name} says 3.", name=name) for name in "abc"}
    chosen = asked_of(desk, **models)
    assert desk.run().text == "They say 3."
    assert desk.answer == {
        "success": True,
        "response": "c says 3.",
        "models_used": {"reference_models": ["a", "b"], "aggregator_model": "c"},
    }
    assert told_last(models["a"]) == [{"role": "user", "content": "How many?"}]
    system, asked = told_last(models["c"])
    assert "a says 3." in system["content"]
    assert "b says 3." in system["content"]
    assert asked == {"role": "user", "content": "How many?"}
    heat = {name: choice.temperature for name, choice in chosen.items()}
    assert heat == {"a": 0.6, "b": 0.6, "c": 0.4}


def test_without_an_aggregator_the_model_of_the_turn_makes_the_answer(open_desk):
    desk = open_desk(
        ASK, conversation("^How many", "All say 3."), mixture=MixtureSettings(
            reference_models=choices("a")
        )
    )  # fmt: skip
    asked_of(desk, a=ScriptedModel("3", name="a"))
    desk.run()
    assert desk.answer["response"] == "All say 3."
    assert desk.answer["models_used"]["aggregator_model"] == "scripted"


def test_a_model_that_fails_is_left_out(open_desk):
    mixture = MixtureSettings(
        reference_models=choices("a", "b"), aggregator_model=ModelChoice(model="c")
    )
    desk = open_desk(ASK, mixture=mixture)
    asked_of(
        desk,
        a=ScriptedModel(ModelError("no such key", kind="auth"), name="a"),
        b=ScriptedModel("3", name="b"),
        c=ScriptedModel("It is 3.", name="c"),
    )
    desk.run()
    assert desk.answer["response"] == "It is 3."
    assert desk.answer["models_used"]["reference_models"] == ["b"]
    assert desk.answer["failed_models"] == {"a": "no such key"}


def test_fewer_answers_than_are_needed_is_an_error_that_keeps_them(open_desk):
    mixture = MixtureSettings(reference_models=choices("a", "b"), min_successful_references=2)
    desk = open_desk(ASK, mixture=mixture)
    asked_of(
        desk,
        a=ScriptedModel("3", name="a"),
        b=ScriptedModel("", name="b"),
    )
    desk.run()
    answer = desk.answer
    assert (answer["success"], answer["response"]) == (False, "")
    assert answer["error"] == "1 of 2 models answered, 2 are needed"
    assert answer["answers"] == [{"model": "a", "response": "3"}]


def test_answers_are_kept_if_the_last_model_fails(open_desk):
    mixture = MixtureSettings(
        reference_models=choices("a"), aggregator_model=ModelChoice(model="c")
    )
    desk = open_desk(ASK, mixture=mixture)
    asked_of(desk, a=ScriptedModel("3", name="a"), c=ScriptedModel(ModelError("gone", kind="auth")))
    desk.run()
    assert "gone" in desk.answer["error"]
    assert desk.answer["answers"] == [{"model": "a", "response": "3"}]


def test_what_the_models_take_is_counted_in_the_turn(open_desk):
    mixture = MixtureSettings(
        reference_models=choices("a", "a"), aggregator_model=ModelChoice(model="c")
    )
    desk = open_desk(ASK, mixture=mixture)
    asked_of(desk, a=ScriptedModel("3", "3", name="a"), c=ScriptedModel("3.", name="c"))
    result = desk.run()
    calls = [event.event for event in desk.of(ChildTold) if isinstance(event.event, ModelCalled)]
    inside = sum((each.usage for each in calls), Usage())
    own = sum((each.usage for each in desk.of(ModelCalled)), Usage())
    assert result.usage.tokens == inside.tokens + own.tokens
    assert result.usage.model_calls == 5
    assert [child.name for child in desk.started[:2]] == ["a", "a (2)"]


def test_an_interrupt_keeps_the_answers_that_are_there(open_desk):
    mixture = MixtureSettings(reference_models=choices("a", "b"))
    desk = open_desk(ASK, mixture=mixture)
    asked_of(
        desk, a=ScriptedModel("3", name="a"), b=ScriptedModel("slow " * 400, name="b", delay=0.05)
    )

    async def main():
        task = asyncio.get_running_loop().create_task(desk.turn())
        seen = asyncio.Event()
        desk.on_event = lambda event: seen.set() if desk.finished else None
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    told = json.loads(json.loads(desk.hermes.session().transcript[-2]["content"])["partial_result"])
    assert told["answers"][0] == {"model": "a", "response": "3"}


def test_it_is_no_tool_until_models_are_named_for_it(open_desk):
    desk = open_desk("x")
    offered = {e.name: found for e, found in desk.hermes.offered(desk.hermes.settings)}
    missing = offered["mixture_of_agents"]
    assert not missing.ok
    assert missing.reason == "no models are named for it"
    assert "Hermes.mixture" in missing.remedy
    there = desk.hermes.usable(desk.hermes.settings)
    assert "mixture_of_agents" not in there.names


def test_it_is_one_once_they_are(open_desk):
    desk = open_desk("x", mixture=MixtureSettings(reference_models=choices("a")))
    tools = desk.hermes.usable(desk.hermes.settings)
    entry = tools.get_entry("mixture_of_agents")
    assert check(entry.check_fn, entry.requires_env).ok


@pytest.mark.parametrize(
    ("prompt", "why"), [("", "is empty"), (" ", "is empty"), ("x" * 300_000, "300,000 characters")]
)
def test_a_question_that_cannot_be_asked_is_an_error(open_desk, prompt, why):
    asking = conversation("^share", (call("mixture_of_agents", user_prompt=prompt),), "I see.")
    desk = open_desk(asking, mixture=MixtureSettings(reference_models=choices("a")))
    desk.run()
    assert why in desk.answer["error"]
    assert desk.answer["success"] is False


def test_a_temperature_that_a_model_does_not_take_is_left_out(open_desk):
    from hermes_jupyter.agent.models.client import OpenAIModel
    from hermes_jupyter.testing.faults import FaultyServer, refused

    complaint = refused(400, "Unsupported value: 'temperature' does not support 0.6")

    async def main(server):
        model = OpenAIModel("m", base_url=server.url, extra={"temperature": 0.6})
        reply = await model.reply([{"role": "user", "content": "x"}], (), lambda delta: None)
        await model.close()
        return reply

    with FaultyServer(complaint, "Fine.") as server:
        assert asyncio.run(main(server)).text == "Fine."
        first, second = server.asked
    assert first["temperature"] == 0.6
    assert "temperature" not in second
