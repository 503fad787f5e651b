"""What a turn has shown below its cell comes back with its recording, if it can do no harm."""

import json
from base64 import b64encode
from dataclasses import replace

from hermes_jupyter.calls import Place, ToolCall
from hermes_jupyter.events import OutputDisplayed, TurnRecorded
from hermes_jupyter.recording.displays import (
    LEFT_OUT,
    MOST_BYTES,
    Displays,
    for_a_page,
    harmless,
    plain_html,
)
from hermes_jupyter.recording.encoding import as_json, of_text
from hermes_jupyter.recording.recorder import Recorder
from hermes_jupyter.recording.shelf import Shelf
from hermes_jupyter.recording.sidecars import Sidecars

PNG = b64encode(b"\x89PNG" + bytes(range(256)) * 20).decode()
CALL = ToolCall(id="c1", name="run_python", args={"code": "plot()"})


def shown(**data):
    kinds = {"png": "image/png", "html": "text/html", "plain": "text/plain"}
    return OutputDisplayed(call=CALL, data={kinds[name]: part for name, part in data.items()})


def kept(recording, *events):
    """The same turn, in which this was shown as well."""
    return replace(recording, events=(*recording.events[:7], *events, *recording.events[7:]))


def test_a_picture_comes_back_to_the_byte(recording):
    figure = replace(shown(png=PNG, plain="<Figure>"), metadata={"image/png": {"width": 300}})
    back = of_text(json.dumps(as_json(kept(recording, figure)), sort_keys=True))
    (again,) = [event for event in back.events if isinstance(event, OutputDisplayed)]
    assert (again.data, again.metadata) == (figure.data, figure.metadata)


def test_a_picture_is_not_mistaken_for_a_secret_and_text_beside_it_is_masked(recording):
    secret = "AKIA" + "ABCDEFGH12345678"
    display = shown(png=f"{PNG[:40]}{secret}{PNG[40:]}", plain=f"key {secret}")
    text = json.dumps(as_json(kept(recording, display)))
    assert text.count(secret) == 1
    assert f"key {secret}" not in text


def test_what_a_page_would_run_is_neither_kept_nor_shown_again():
    bundle = {
        "text/plain": "a table",
        "text/html": "<table onclick='x()'><tr><td colspan='2'>1 &lt; 2</td></tr></table>"
        "<script>steal()</script><style>b{}</style><img src=x onerror=alert(1)><a href=j:x>go</a>",
        "application/javascript": "steal()",
        "image/svg+xml": "<svg onload='steal()'/>",
        "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
        "image/png": {"not": "text"},
    }
    told = harmless(
        OutputDisplayed(call=CALL, data=bundle, metadata={"text/html": {"isolated": True}})
    )
    assert told.data == {
        "text/plain": "a table",
        "text/html": '<table><tr><td colspan="2">1 &lt; 2</td></tr></table>go',
    }
    assert told.metadata == {}


def test_markdown_that_is_shown_again_loads_nothing():
    event = OutputDisplayed(
        call=CALL, data={"text/markdown": "**x** ![](http://a.b/c.png)<img src=y>"}
    )
    assert harmless(event).data == event.data
    told = for_a_page(event).data["text/markdown"]
    assert "**x**" in told
    assert "![" not in told.replace("\\![", "")
    assert "<img" not in told


def test_broken_html_stays_harmless():
    assert "<" not in plain_html("<<script>x</script <img src=x onerror=y>").replace("&lt;", "")


def test_of_too_much_only_the_first_is_recorded():
    displays = Displays()
    large = shown(png="A" * (MOST_BYTES // 2))
    first, second, third = (displays.recorded(each) for each in (large, large, shown(plain="x")))
    assert first.data == large.data
    assert second.data == {"text/plain": LEFT_OUT}
    assert third.data == {"text/plain": "x"}


def test_a_turn_that_shows_a_picture_is_recorded_with_it(recording, tmp_path):
    told = []
    recorder = Recorder(
        prompt_sha256=recording.prompt_sha256,
        line="",
        place=Place(),
        shelf=Shelf(tmp_path),
        sidecars=Sidecars(tmp_path),
        travels=True,
        stays=False,
        begun=lambda turn: None,
        emit=told.append,
    )
    for event in kept(recording, shown(png=PNG)).events:
        recorder(event)
    (parcel,) = [event for event in told if isinstance(event, TurnRecorded)]
    (figure,) = [each for each in parcel.content["events"] if each["type"] == "OutputDisplayed"]
    assert figure["data"] == {"image/png": PNG}
    assert (figure["call"]["id"], figure["call"]["args"]) == ("c1", {})
