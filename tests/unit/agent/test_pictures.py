"""Images in a conversation: who gets them, what stands in their place, how long they stay."""

from __future__ import annotations

import asyncio
import json

import pytest

from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.compaction.parts import parts_of
from hermes_jupyter.agent.compaction.shrinking import shrunk
from hermes_jupyter.agent.compaction.sizes import weight_of
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.models.providers import CUSTOM, PROVIDERS
from hermes_jupyter.agent.models.requests import Requests
from hermes_jupyter.agent.models.sight import sees, told_by
from hermes_jupyter.agent.news import News
from hermes_jupyter.agent.pictures import (
    MOST_LIVE,
    OF_RESULTS,
    asked_with,
    forget_older,
    message_of,
    names_in,
    without_carriers,
)
from hermes_jupyter.agent.said import add_for_user
from hermes_jupyter.agent.spending import Ceilings, Spending
from hermes_jupyter.calls import ToolCall, ToolResult
from hermes_jupyter.testing import ScriptedModel, call
from tools.images.picture import Picture
from tools.registry import tool_result

EYES = PROVIDERS[0]


def agent_for(turn, model):
    road = turn.road()
    return Agent(
        model=model,
        road=road,
        definitions=road.tools.definitions(),
        emit=turn.emit,
        budget=Budget(9),
        transcript=[],
        cwd=lambda: str(turn.folder),
    )


def is_valid(transcript):
    """Every call has its result, right behind the message that asked for it."""
    wanted = []
    for message in transcript:
        if message["role"] == "tool":
            assert message["tool_call_id"] == wanted.pop(0)
        else:
            assert not wanted
        wanted += [c["id"] for c in message.get("tool_calls") or []]
    return not wanted


def picture(number=0, width=1_200, height=1_000):
    return Picture("image/png", b"\x89PNG" + bytes([number]) * 40, width, height)


def shown(*pictures):
    """What a step leaves in the transcript."""
    results = [ToolResult(call=ToolCall(id="1", name="plot"), text="{}", images=pictures)]
    return message_of(results, ())


def plots(turn, *pictures):
    """A tool that shows images."""

    def plot(args, **context):
        for each in pictures:
            context["on_image"](each)
        return tool_result(drawn=len(pictures))

    turn.tool("plot", plot)


def images_in(message):
    content = message["content"]
    return (
        [p["image_url"]["url"] for p in content if "image_url" in p]
        if isinstance(content, list)
        else []
    )


def test_images_of_a_step_follow_all_its_results(turn):
    plots(turn, picture(1), picture(2))
    model = ScriptedModel((call("plot"), call("plot")), "seen")
    agent = agent_for(turn, model)
    assert asyncio.run(agent.run("go")).text == "seen"
    *_, first, second, images = model.requests[-1].messages
    assert [first["role"], second["role"], images["role"]] == ["tool", "tool", "user"]
    assert images_in(images) == [picture(1).uri, picture(2).uri]
    assert OF_RESULTS in json.dumps(images)
    assert is_valid(agent.transcript)


def test_a_model_without_eyes_reads_what_there_is_and_no_base64(turn):
    plots(turn, picture(1))
    model = ScriptedModel((call("plot"),), "not seen", sees=False)
    asyncio.run(agent_for(turn, model).run("go"))
    last = model.requests[-1].messages[-1]
    assert last["role"] == "tool"
    assert "(PNG, 1200 x 1000)" in last["content"]
    assert "cannot see" in last["content"]
    assert "base64" not in json.dumps(model.requests[-1].messages)


def test_an_image_that_the_model_has_is_not_sent_again(turn):
    plots(turn, picture(1))
    model = ScriptedModel((call("plot"),), (call("plot"),), "seen")
    asyncio.run(agent_for(turn, model).run("go"))
    assert len([m for m in model.requests[-1].messages if images_in(m)]) == 1


def test_a_model_that_falls_silent_about_images_leaves_a_valid_transcript(turn):
    plots(turn, picture(1))
    agent = agent_for(turn, ScriptedModel((call("plot"),), asyncio.CancelledError()))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(agent.run("go"))
    assert is_valid(agent.transcript)
    assert agent.transcript[-1]["role"] == "assistant"


def test_no_server_is_told_what_is_noted_for_ourselves():
    for api in ("chat", "responses"):
        body = Requests(EYES, {}, api).body("m", [shown(picture())], (), 0)
        assert b"of_results" not in body
        assert b"pictures" not in body


def test_the_responses_api_gets_images_as_it_wants_them():
    body = json.loads(Requests(EYES, {}, "responses").body("m", [shown(picture())], (), 0))
    parts = body["input"][0]["content"]
    assert {"type": "input_image", "image_url": picture().uri} in parts
    assert {part["type"] for part in parts} == {"input_text", "input_image"}


def test_images_are_left_out_for_a_model_without_eyes_and_come_back_for_one_with():
    requests = Requests(EYES, {}, "chat")
    message = shown(picture())
    requests.take_images(taken=False)
    assert b"base64" not in requests.body("m", [message], (), 0)
    requests.take_images(taken=True)
    assert b"base64" in requests.body("m", [message], (), 0)


def test_what_the_person_says_meanwhile_stands_behind_the_images():
    transcript = [{"role": "tool", "tool_call_id": "1", "content": "{}"}, shown(picture())]
    add_for_user(transcript, "make it blue")
    assert len(transcript) == 2
    assert "make it blue" in transcript[-1]["content"][-1]["text"]
    assert "while you work" in transcript[-1]["content"][-1]["text"]


def test_news_stand_before_a_request_with_images():
    transcript = [asked_with("what is this?", [("cell [1]", picture())])]
    News(inbox=None, transcript=transcript, emit=print)._append("a job ended")
    texts = [part.get("text") for part in transcript[0]["content"]]
    assert (texts[0], texts[-1]) == ("a job ended", "what is this?")


def test_images_weigh_as_their_pixels_do():
    small, large = (weight_of(shown(picture(1, side, side))) for side in (100, 1_500))
    assert 85 <= small < 200
    assert large - small == pytest.approx(1_500**2 / 750 - 85, abs=1)


def test_a_ceiling_counts_an_image_and_not_its_letters():
    large = Picture("image/png", bytes(900_000), 1_500, 1_500)
    spending = Spending(Ceilings(max_tokens=100_000))
    assert 3_000 < spending.expected([shown(large)], ()) < 4_000


def test_a_model_that_reads_text_alone_is_not_told_that_images_came():
    asked = {"role": "user", "content": "the task"}
    assert without_carriers([asked, shown(picture())]) == [asked]


def test_to_shorten_a_conversation_leaves_its_old_images_out():
    request = shrunk(asked_with("what is this?", [("cell [1]", picture())]))
    assert request["content"].startswith("what is this?\n\n[Images were here: image:")
    results = shrunk(shown(picture(1), picture(2)))
    assert results["content"].count("image:") == 2
    assert "vision_analyze" in results["content"]
    assert shrunk(results) is None


def test_images_do_not_pass_for_the_newest_request():
    asked = {"role": "user", "content": "the task"}
    steps = [
        message
        for number in range(6)
        for message in (
            {"role": "assistant", "content": None, "tool_calls": [{"id": str(number)}]},
            {"role": "tool", "tool_call_id": str(number), "content": "x" * 400},
            shown(picture(number)),
        )
    ]
    messages = [{"role": "system", "content": "s"}, asked, *steps, asked, *steps]
    parts = parts_of(messages, lambda some: sum(map(int, map(weight_of, some))), 50)
    assert parts.tail <= messages.index(asked, 3)
    assert messages[parts.tail].get("of_results") is None


def test_older_images_go_when_there_are_too_many():
    transcript = [shown(picture(number)) for number in range(MOST_LIVE + 1)]
    newest = names_in(transcript)[-MOST_LIVE // 2 :]
    assert forget_older(transcript) == MOST_LIVE + 1 - MOST_LIVE // 2
    assert names_in(transcript) == newest
    assert forget_older(transcript) == 0


@pytest.mark.parametrize(
    ("name", "seen"),
    [("gpt-5-mini", True), ("gpt-4o", True), ("claude-opus-4-6", True), ("gemini-3-pro", True),
     ("qwen2.5-vl:7b", True), ("Qwen/Qwen3-VL-8B-Instruct", True), ("llama3.2-vision:11b", True),
     ("google/gemma-3-27b-it:free", True), ("gpt-3.5-turbo", False), ("gpt-oss-20b", False),
     ("qwen2.5-coder:1.5b", False), ("llama3.1:8b", False), ("deepseek-chat", False),
     ("NousResearch/Hermes-4-70B", False), ("something-new", True), ("", True)],
)  # fmt: skip
def test_names_tell_who_sees(name, seen):
    assert sees(name, CUSTOM) is seen


@pytest.mark.parametrize(
    ("entry", "told"),
    [({"id": "m"}, None), ({"architecture": {"input_modalities": ["text", "image"]}}, True),
     ({"architecture": {"input_modalities": ["text"]}}, False),
     ({"capabilities": ["completion", "multimodal"]}, True),
     ({"capabilities": ["completion"]}, False), ({"capabilities": {"vision": False}}, False),
     ({"capabilities": {"tools": True}}, None),
     ({"type": "vlm"}, True), ({"type": "llm"}, None)],
)  # fmt: skip
def test_lists_of_models_tell_who_sees(entry, told):
    assert told_by(entry) is told
