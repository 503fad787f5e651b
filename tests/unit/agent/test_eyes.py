"""Who looks at an image: the model itself, another one, or nobody."""

from __future__ import annotations

import asyncio

import pytest

from hermes_jupyter.agent.eyes import Eyes, has_eyes, usable_vision
from hermes_jupyter.agent.spending import Ceilings, Spending
from hermes_jupyter.errors import ConfigurationError, ModelError
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import ScriptedModel
from tools.discovery import discover_builtin
from tools.images.picture import Picture
from tools.registry import registry

PICTURE = Picture("image/png", b"\x89PNG" + bytes(40), 640, 480)
BLIND = ScriptedModel(sees=False)


def eyes(other=None, *, ceilings=None, heard=None):
    return Eyes(
        model=lambda: BLIND,
        other=other,
        spending=Spending(ceilings) if ceilings else Spending(),
        hear=(heard if heard is not None else []).append,
    )


def look(*args, **more):
    return asyncio.run(eyes(*args, **more).look(PICTURE, "Where is the peak?"))


def test_another_model_gets_the_image_with_the_question_and_is_counted():
    model, heard = ScriptedModel("In the middle.", name="seer"), []
    assert look(lambda: model, heard=heard) == "In the middle."
    (message,) = model.requests[0].messages
    text, image = message["content"]
    assert "Where is the peak?" in text["text"]
    assert image["image_url"]["url"] == PICTURE.uri
    assert [called.model for called in heard] == ["seer"]


def broken():
    raise ConfigurationError("where is provider 'x'?")


def refusing():
    model = ScriptedModel(ModelError("takes no images", kind="image"))
    return lambda: model


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (None, "no model here sees images"),
        (lambda: BLIND, "no model here sees images"),
        (broken, "cannot be used: where is provider"),
        (refusing(), "did not look at it: takes no images"),
    ],
)
def test_what_keeps_it_from_being_looked_at_is_said(other, said):
    with pytest.raises(LookupError, match=said):
        look(other)


def test_to_look_counts_among_the_ceilings_of_the_turn():
    model = ScriptedModel("never asked")
    with pytest.raises(LookupError, match="ceiling"):
        look(lambda: model, ceilings=Ceilings(max_tokens=1_000))
    assert model.requests == []


def test_an_empty_answer_is_one():
    assert look(lambda: ScriptedModel(" ")) == "(no answer)"


def test_whoever_does_not_say_that_it_sees_does_not():
    assert has_eyes(ScriptedModel()) is True
    assert has_eyes(BLIND) is False
    assert has_eyes(object()) is False


@pytest.mark.parametrize(("vision", "usable"), [("on", True), ("off", False)])
def test_the_tool_can_be_used_where_somebody_sees(vision, usable):
    discover_builtin()
    found = usable_vision(registry, Settings(vision=vision))
    assert bool(found) is usable
    assert registry.get_entry("vision_analyze").check_fn is not None
