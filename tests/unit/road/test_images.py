"""Images that tools give: as values beside the text, however the tool hands them over."""

from __future__ import annotations

import asyncio
import json

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.course import MOST_PICTURES
from hermes_jupyter.store.album import Album
from tools.images.picture import Picture
from tools.images.values import drawn

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")


def pixels(number=0):
    return numpy.full((30, 40), number, "uint8")


def png(number=0):
    return Picture("image/png", drawn(pixels(number)), 40, 30)


def noisy():
    noise = numpy.random.default_rng(0).integers(0, 256, (30, 40), "uint8")
    return Picture("image/png", drawn(noise), 40, 30)


def run(turn, handler, **context):
    turn.tool("look", handler)
    return asyncio.run(turn.road(**context).run(ToolCall(id="1", name="look")))


async def an_image_of_pillow(args, **_):
    return Image.fromarray(pixels())


def a_figure(args, **_):
    figures = pytest.importorskip("matplotlib.figure")
    figure = figures.Figure(figsize=(4, 3))
    figure.subplots().plot([1, 2])
    return figure


@pytest.mark.parametrize("handler", [an_image_of_pillow, lambda a, **_: Image.fromarray(pixels())])
def test_a_tool_may_return_an_image(turn, handler):
    result = run(turn, handler)
    assert (result.status, result.images) == ("ok", (png(),))
    assert json.loads(result.text) == {"image": png().words}


def test_a_tool_may_return_a_figure(turn):
    result = run(turn, a_figure)
    assert result.status == "ok"
    assert result.images[0].kind == "image/png"


def test_a_figure_that_cannot_be_drawn_is_an_error_that_says_why(turn):
    def handler(args, **_):
        figure = a_figure(args)
        figure.suptitle("$\\nothing{$")
        return figure

    result = run(turn, handler)
    assert result.status == "error"
    assert "cannot be drawn" in result.text


@pytest.mark.parametrize("image", [png(3), pixels(3), png(3).content])
def test_a_tool_may_show_images_and_say_something(turn, image):
    def handler(args, *, on_image, **_):
        on_image(image)
        return '{"said": 1}'

    album = Album()
    result = run(turn, handler, album=album)
    assert (result.text, result.images) == ('{"said": 1}', (png(3),))
    assert album.find(png(3).name) == png(3)


def test_too_many_images_are_left_out(turn):
    def handler(args, *, on_image, **_):
        for number in range(30):
            on_image(png(number))
        return "{}"

    assert len(run(turn, handler).images) == MOST_PICTURES


@pytest.mark.parametrize("as_json", [False, True])
def test_answers_of_hermes_agent_with_parts_are_understood(turn, as_json):
    image = {"type": "image_url", "image_url": {"url": png().uri}}
    parts = [{"type": "text", "text": "A plot."}, image]
    answer = {"_multimodal": True, "content": parts, "text_summary": "A plot."}
    result = run(turn, lambda args, **_: json.dumps(answer) if as_json else answer)
    assert result.text == f"A plot.\n{png().words}"
    assert result.images == (png(),)


def test_images_that_are_texts_in_an_answer_become_images(turn):
    answer = {"plots": [{"png": noisy().uri}], "n": 1}
    result = run(turn, lambda args, **_: json.dumps(answer))
    assert json.loads(result.text) == {"plots": [{"png": noisy().words}], "n": 1}
    assert result.images == (noisy(),)


def test_a_damaged_image_in_an_answer_is_told_and_no_base64_is_left(turn):
    answer = {"png": noisy().uri[:600]}
    result = run(turn, lambda args, **_: json.dumps(answer))
    assert "cannot be sent" in result.text
    assert len(result.text) < 300
    assert result.images == ()


def test_what_is_neither_text_nor_image_is_still_the_tools_mistake(turn):
    assert "instead of text" in run(turn, lambda args, **_: {"a": 1}).text


def test_what_a_script_makes_its_tools_show_is_shown(turn):
    def plot(args, *, on_image, **_):
        on_image(png(7))
        return "{}"

    def script(args, *, call_tool, **_):
        return call_tool("plot", {}).result(5)

    turn.tool("plot", plot)
    assert run(turn, script).images == (png(7),)


def test_a_call_without_a_loop_has_images_too(turn):
    turn.tool("look", lambda args, **_: Image.fromarray(pixels()), effects="read")
    assert turn.road().run_here(ToolCall(id="1", name="look")).images == (png(),)
