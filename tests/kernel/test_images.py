"""Images in turns: what tools draw and cells have shown goes to a model that sees."""

import base64
import json

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.faults import FaultyServer, refused
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True
RECORD = "application/vnd.hermes.turn+json"
PLOT = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots(figsize=(4, 3))\nax.plot([1, 3, 2])"
NOISE = (
    "import matplotlib.pyplot as plt, numpy as np\n"
    "plt.imshow(np.random.default_rng(0).random((300, 300, 3)))"
)
PNG = "data:image/png;base64,"

pytest.importorskip("matplotlib")


def images(message):
    """The addresses of the images in a message."""
    content = message["content"]
    parts = content if isinstance(content, list) else []
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def sent(notebook):
    """All images of the last request."""
    return [url for m in notebook.requests()[-1]["messages"] for url in images(m)]


def shown(notebook):
    return [
        message["content"]["data"]["image/png"].replace("\n", "")
        for message in notebook.published
        if message["msg_type"] == "display_data" and "image/png" in message["content"]["data"]
    ]


def test_a_figure_is_shown_below_the_cell_and_sent_to_the_model(start):
    notebook = start((call("run_python", code=PLOT),), "It has a peak.")
    request = notebook.agent("plot it", allow_stdin=False)
    assert notebook.status(request, 40) == "ok"
    (url,) = sent(notebook)
    assert url.removeprefix(PNG) == shown(notebook)[-1]
    *_, answer, carrier = notebook.requests()[-1]["messages"]
    assert carrier["role"] == "user"
    assert "image:" in json.loads(answer["content"])["images"][0]
    record = notebook.record(request)
    assert url[200:300] not in json.dumps(record[RECORD])
    assert len(json.dumps(record)) < 50_000


def test_the_picture_of_a_cell_above_goes_along_with_the_prompt_once(start):
    notebook = start("A peak.", "Still a peak.")
    notebook.run(f"%matplotlib inline\n{PLOT}", timeout=60)
    (picture,) = shown(notebook)
    assert notebook.status(notebook.agent("what do you see?")) == "ok"
    assert [url.removeprefix(PNG) for url in sent(notebook)] == [picture]
    prompt = notebook.requests()[-1]["messages"][-1]["content"]
    assert prompt[-1]["text"].rstrip().endswith("what do you see?")
    assert notebook.status(notebook.agent("and now?")) == "ok"
    assert len(sent(notebook)) == 1


def test_a_large_picture_of_a_cell_above_goes_along_whole(start):
    """Of other outputs as long as this one the kernel keeps a part."""
    notebook = start("Noise.")
    notebook.run(f"%matplotlib inline\n{NOISE}", timeout=60)
    (picture,) = shown(notebook)
    assert len(picture) > 200_000
    assert notebook.status(notebook.agent("what do you see?"), 40) == "ok"
    assert [url.removeprefix(PNG) for url in sent(notebook)] == [picture]


def test_a_figure_in_a_variable_is_looked_at(start):
    notebook = start(
        (call("vision_analyze", image_url="fig", question="Where is the peak?"),), "In the middle."
    )
    notebook.run(f"{PLOT}\nplt.close('all')", timeout=60)
    assert notebook.status(notebook.agent("look", "--no-context"), 40) == "ok"
    (url,) = sent(notebook)
    assert base64.b64decode(url.removeprefix(PNG))[:4] == b"\x89PNG"


def test_a_model_without_eyes_reads_sizes(start):
    notebook = start((call("run_python", code=PLOT),), "I cannot see it.")
    notebook.run("%config Hermes.vision = 'off'")
    assert notebook.status(notebook.agent("plot it", allow_stdin=False), 40) == "ok"
    last = notebook.requests()[-1]["messages"][-1]
    assert (last["role"], sent(notebook)) == ("tool", [])
    assert "You cannot see images: image:" in last["content"]
    assert "vision_analyze" not in json.dumps(notebook.requests()[-1]["tools"])


def test_another_model_looks_for_one_without_eyes(start):
    looked = conversation("Answer the question about the image", "A peak in the middle.")
    turn = conversation(
        "look", (call("vision_analyze", image_url="fig", question="Where?"),), "In the middle."
    )
    notebook = start(looked, turn)
    notebook.run(f"{PLOT}\nplt.close('all')", timeout=60)
    notebook.run("%config Hermes.vision = 'off'\n%config Hermes.vision_model = 'scripted-eyes'")
    assert notebook.status(notebook.agent("look", "--no-context"), 40) == "ok"
    asked = [body for body in notebook.requests() if body["model"] == "scripted-eyes"]
    assert len(images(asked[0]["messages"][-1])) == 1
    answer = notebook.requests()[-1]["messages"][-1]["content"]
    assert '"analysis": "A peak in the middle."' in answer


def test_a_server_that_refuses_images_is_asked_without_them_and_it_is_said_once(start):
    plot = (call("run_python", code=PLOT),)
    refusal = refused(400, "image input is not supported")
    with FaultyServer(plot, refusal, "Drawn.", plot, "Drawn again.") as server:
        notebook = start("never asked")
        notebook.run(f"os.environ['OPENAI_BASE_URL'] = {server.url!r}")
        first = notebook.agent("plot it", allow_stdin=False)
        assert notebook.status(first, 40) == "ok"
        again = notebook.agent("plot it again", allow_stdin=False)
        assert notebook.status(again, 40) == "ok"
        with_images = ["base64" in json.dumps(body["messages"]) for body in server.asked]
    assert with_images == [False, True, False, False, False]
    records = [notebook.record(request)["text/plain"] for request in (first, again)]
    assert [record.count("going on without them") for record in records] == [1, 0]
