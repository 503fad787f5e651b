"""``vision_analyze``: what it takes, who sees it, and what asks a person first."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

import pytest

from tests.unit.tools.live_kernel import Variables
from tools.images.preparing import prepared
from tools.images.values import drawn
from tools.vision_tool import objection, vision_analyze

numpy = pytest.importorskip("numpy")
pytest.importorskip("PIL")
PIXELS = numpy.arange(1_200, dtype="uint8").reshape(30, 40)
PNG = drawn(PIXELS)
PICTURE = prepared(PNG)


class Live(Variables):
    async def apply(self, work):
        return work()


class Eyes:
    """Sees, or knows somebody who does."""

    def __init__(self, *, own=False, says="A ramp."):
        self.are_own, self._says, self.asked = own, says, []

    async def look(self, picture, question):
        self.asked.append((picture, question))
        if isinstance(self._says, Exception):
            raise self._says
        return self._says


def look(source, eyes=None, **context):
    given = {"image_url": source, "question": "What is it?"}
    eyes = eyes or Eyes()
    return json.loads(asyncio.run(vision_analyze(given, eyes=eyes, **context)))


@pytest.mark.parametrize("name", ["plot.png", "Überblick 図.png", "wrong.jpg", "no extension"])
def test_a_file_is_looked_at_whatever_it_is_called(tmp_path, name):
    (tmp_path / name).write_bytes(PNG)
    eyes = Eyes()
    answer = look(name, eyes, cwd=str(tmp_path))
    assert answer == {"success": True, "image": PICTURE.words, "analysis": "A ramp."}
    assert eyes.asked == [(PICTURE, "What is it?")]
    assert look(f"file://{quote(str(tmp_path / name))}", cwd=str(tmp_path))["success"]


def test_a_data_text_is_looked_at():
    assert look(PICTURE.uri)["image"] == PICTURE.words


@pytest.mark.parametrize("source", ["pixels", "plots['first']", " pixels "])
def test_a_variable_is_looked_at(tmp_path, source):
    live = Live(pixels=PIXELS, plots={"first": PIXELS})
    assert look(source, live=live, cwd=str(tmp_path))["image"] == PICTURE.words


def test_a_variable_that_is_no_image_is_told():
    assert "nothing to be seen" in look("n", live=Live(n=5))["error"]


def test_an_image_of_this_conversation_is_looked_at_again():
    class Album:
        def find(self, name):
            return PICTURE if name == PICTURE.name else None

    assert look(PICTURE.name, album=Album())["success"]
    assert "there is no image:" in look("image:0123456789ab", album=Album())["error"]


def test_a_model_that_sees_gets_the_image_itself():
    shown = []
    answer = look(PICTURE.uri, Eyes(own=True), on_image=shown.append)
    assert (shown, answer["image"]) == ([PICTURE], PICTURE.words)


def test_a_person_who_calls_it_gets_an_answer_although_the_model_sees():
    eyes = Eyes(own=True)
    assert look(PICTURE.uri, eyes, by_hand=True)["analysis"] == "A ramp."


def test_where_nobody_sees_the_remedy_is_said():
    answer = look(PICTURE.uri, Eyes(says=LookupError("no model here sees")))
    assert answer == {"error": "no model here sees", "success": False, "image": PICTURE.words}
    given = {"image_url": PICTURE.uri, "question": "?"}
    assert "Hermes.vision_model" in asyncio.run(vision_analyze(given))


@pytest.mark.parametrize(
    ("source", "said"),
    [("", "name one image"), ("x" * 5_000, "name one image"), ("nowhere.png", "No such file"),
     (".", "is no file"), ("data:text/plain,hello", "data:"), ("http://[::1/a", "address"),
     ("drawing.svg", "SVG"), ("notes.txt", "no image"), ("cut.png", "damaged"), ("\0.png", "NUL")],
)  # fmt: skip
def test_what_cannot_be_looked_at_is_told(tmp_path, source, said):
    (tmp_path / "drawing.svg").write_text("<svg/>")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "cut.png").write_bytes(PNG[:-40])
    answer = look(source, cwd=str(tmp_path), live=Live())
    assert said in answer["error"]
    assert answer["success"] is False


def test_a_file_that_is_nearly_called_so_is_named(tmp_path):
    (tmp_path / "plot.png").write_bytes(PNG)
    assert "plot.png" in look("plott.png", cwd=str(tmp_path))["error"]


@pytest.mark.parametrize(
    "url", ["http://localhost:8888/a.png", "http://169.254.169.254/x", "HTTP://10.0.0.1/a.png"]
)
def test_machines_of_the_own_network_are_asked_about(url):
    assert "your own network" in objection({"image_url": url}).reason


@pytest.mark.parametrize("source", ["https://example.org/a.png", PICTURE.uri, "image:abc", "fig"])
def test_nothing_else_is_asked_about(source, tmp_path):
    assert objection({"image_url": source}, cwd=str(tmp_path)) is None


def test_files_that_may_hold_secrets_are_asked_about(tmp_path):
    found = objection({"image_url": "~/.ssh/id_rsa"}, cwd=str(tmp_path))
    assert "may hold" in found.reason
