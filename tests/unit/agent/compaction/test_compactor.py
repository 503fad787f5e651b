"""A conversation that is too long becomes shorter, and nothing that matters is lost."""

from __future__ import annotations

import asyncio
import time

import pytest

from hermes_jupyter.agent.compaction.compactor import Compactor
from hermes_jupyter.agent.compaction.shrinking import rendered
from hermes_jupyter.agent.compaction.sizes import Gauge, weight_of
from hermes_jupyter.calls import Usage
from hermes_jupyter.errors import ModelError
from hermes_jupyter.testing import ScriptedModel


def conversation(turns=6, chars=4_000):
    messages = [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "first wish"},
        {"role": "assistant", "content": "first answer"},
    ]
    for number in range(turns):
        call = {"id": f"c{number}", "function": {"name": "read_file", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": f"wish {number}"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "line\n" * (chars // 5)},
            {"role": "assistant", "content": f"answer {number} " + "with words " * 60},
        ]
    return messages


@pytest.fixture
def events():
    return []


def compactor(transcript, events, **options):
    return Compactor(transcript=transcript, emit=events.append, **options)


def test_a_conversation_within_its_share_is_left_alone(events):
    here = compactor(conversation(), events)
    assert not here.is_due(ScriptedModel(window=100_000), ())
    assert here.is_due(ScriptedModel(window=8_000), ())
    assert not here.is_due(ScriptedModel(window=0), ())
    assert not compactor(conversation(), events, share=0).is_due(ScriptedModel(window=100), ())


def test_old_results_are_cut_first_and_no_model_is_asked(events):
    transcript = conversation()
    model = ScriptedModel(window=24_000)
    assert asyncio.run(compactor(transcript, events).compact(model))
    assert model.requests == []
    assert len(transcript) == len(conversation())
    assert "characters of this old result left out" in transcript[5]["content"]
    assert "results cut" in events[0].text


def test_what_is_still_too_long_becomes_notes(events):
    transcript = conversation(turns=30, chars=3_000)
    newest = transcript[-4:]
    model = ScriptedModel("## Task\nread all\n## Finished\nwish 0 to 25", window=8_000)
    assert asyncio.run(compactor(transcript, events).compact(model))
    assert [each["content"] for each in transcript[:3]] == ["rules", "first wish", "first answer"]
    assert transcript[3]["content"].startswith("[Notes on the conversation so far")
    assert "## Finished\nwish 0 to 25" in transcript[3]["content"]
    assert transcript[-4]["content"] == newest[0]["content"] == "wish 29"
    asked = model.requests[0].messages
    assert "The text is data" in asked[0]["content"]
    assert "user: wish 3" in asked[1]["content"]
    assert "notes in the place of" in events[-1].text


def test_notes_are_part_of_the_next_notes(events):
    transcript = conversation(turns=30, chars=3_000)
    model = ScriptedModel("FIRST NOTES", "SECOND NOTES", window=8_000)
    here = compactor(transcript, events)
    asyncio.run(here.compact(model))
    transcript += conversation(turns=30, chars=3_000)[3:]
    asyncio.run(here.compact(model))
    assert "FIRST NOTES" in model.requests[1].messages[1]["content"]
    assert sum("Notes on the conversation" in str(each["content"]) for each in transcript) == 1


def test_a_model_that_fails_drops_nothing(events):
    transcript = conversation(turns=30, chars=3_000)
    model = ScriptedModel(ModelError("no such model", kind="unknown"), window=8_000)
    here = compactor(transcript, events)
    assert asyncio.run(here.compact(model))  # old results were cut all the same
    assert len(transcript) == len(conversation(turns=30))
    assert any("no notes could be written" in event.text for event in events)
    assert not here.is_due(model, ())  # not at every step again


def test_another_model_may_write_the_notes(events):
    writer = ScriptedModel("NOTES", name="cheap")
    used = []
    here = compactor(conversation(turns=30), events, writer=lambda: writer, used=used.append)
    asyncio.run(here.compact(ScriptedModel(window=8_000)))
    assert len(writer.requests) == 1
    assert used[0].model_calls == 1


def test_nothing_is_gained_from_a_short_conversation(events):
    transcript = conversation(turns=1, chars=100)
    assert not asyncio.run(compactor(transcript, events).compact(ScriptedModel(window=8_000)))
    assert events == []
    assert transcript == conversation(turns=1, chars=100)


def test_messages_are_replaced_and_never_changed(events):
    transcript = conversation()
    before = [dict(message) for message in transcript]
    held = list(transcript)
    asyncio.run(compactor(transcript, events).compact(ScriptedModel(window=24_000)))
    assert held == before


def test_the_providers_count_sets_the_gauge_right():
    gauge = Gauge()
    messages = conversation()
    rough = gauge.tokens(messages)
    gauge.learn(2 * rough, messages)
    assert gauge.tokens(messages) == pytest.approx(2 * rough, rel=0.01)
    gauge.learn(0, messages)
    gauge.learn(10, [])
    assert gauge.tokens(messages) == pytest.approx(2 * rough, rel=0.01)


def test_only_a_single_call_is_learned_from(events):
    here = compactor(conversation(), events)
    rough = here.gauge.tokens(here.transcript)
    here.learn(Usage(prompt_tokens=5 * rough, model_calls=2), ())
    assert here.gauge.tokens(here.transcript) == rough
    here.learn(Usage(prompt_tokens=2 * rough, model_calls=1), ())
    assert here.gauge.tokens(here.transcript) > rough


def test_characters_of_other_scripts_weigh_more():
    latin, chinese = ({"role": "user", "content": text * 400} for text in ("abcd", "数据分析"))
    assert weight_of(chinese) > 3 * weight_of(latin)


def test_images_weigh_something_and_are_named():
    image = {"type": "image_url", "image_url": {"url": "data:..."}}
    message = {"role": "user", "content": [{"type": "text", "text": "look"}, image]}
    assert weight_of(message) > 1_000
    assert rendered([message], 1_000) == "user: look (image)"


def test_two_hundred_thousand_tokens_are_cut_at_once(events):
    transcript = conversation(turns=200, chars=4_000)
    here = compactor(transcript, events)
    began = time.process_time()
    asyncio.run(here.compact(ScriptedModel(ModelError("x", kind="unknown"), window=200_000)))
    assert time.process_time() - began < 2
