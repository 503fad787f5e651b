"""What a person says while a turn runs: typed below it, shown in it, kept in its record."""

from __future__ import annotations

import asyncio

import ipywidgets
import pytest

from hermes_jupyter.events import (
    MessageSaid,
    StepFinished,
    StepStarted,
    TextStreamed,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.base import Talk
from hermes_jupyter.views.live import WidgetView
from hermes_jupyter.views.record import MIME, Record
from hermes_jupyter.views.text import TextView
from hermes_jupyter.views.typed import has_arrived
from hermes_jupyter.views.widgets import WIDGET_MIME

STARTED = TurnStarted(session="s", turn="t", prompt="p", model="tiny", steps=9)
SAID = MessageSaid(text="use <tabs>\nsk-proj-" + "a1B2" * 12)


def descendants(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from descendants(child)


class Line:
    """The widgets below a turn, as a person finds them."""

    def __init__(self, cell):
        root = ipywidgets.widgets.widget._instances[cell.displayed[0][0][WIDGET_MIME]["model_id"]]
        self.all = [*descendants(root)]
        fields = [widget for widget in self.all if isinstance(widget, ipywidgets.Text)]
        self.field = next(iter(fields), None)

    def press(self, label):
        next(widget for widget in self.all if getattr(widget, "description", "") == label).click()

    def html(self):
        return "\n".join(str(getattr(widget, "value", "")) for widget in self.all)


@pytest.fixture
def said():
    return []


@pytest.fixture
def with_line(cell, desk, said, monkeypatch):
    """Do something with the line below a running turn; what was said, and what is shown."""

    async def arrived(*_):
        return True

    monkeypatch.setattr(has_arrived.__module__ + ".Probe.alive", arrived)

    def work(do, *events):
        async def main():
            talk = Talk(said.append, lambda: said.append("STOP"))
            view = WidgetView(cell, desk, "d1", talk=talk)
            for event in events or (STARTED,):
                view(event)
            line = Line(cell)
            do(line)
            for _ in range(9):
                await asyncio.sleep(0)
            shown = Line(cell)
            view.final({"text/plain": "the end"})
            return shown.field, shown.html()

        return asyncio.run(main())

    return work


@pytest.mark.parametrize("way", ["Enter", "Say"])
def test_what_is_typed_is_said_and_the_field_is_empty_again(with_line, said, way):
    def type_it(line):
        line.field.value = "  use tabs "
        if way == "Say":
            line.press("Say")
        else:
            line.field._handle_custom_msg({"event": "submit"}, [])

    field, _ = with_line(type_it)
    assert said == ["use tabs"]
    assert field.value == ""


def test_nothing_is_not_said(with_line, said):
    def type_it(line):
        line.field.value = "   "
        line.press("Say")

    with_line(type_it)
    assert said == []


def test_stop_stops_the_turn(with_line, said):
    with_line(lambda line: line.press("Stop"))
    assert said == ["STOP"]


def test_a_call_by_hand_has_nobody_to_talk_to(with_line):
    by_hand = TurnStarted(session="s", turn="t", prompt="p", model="", steps=0)
    field, _ = with_line(lambda line: None, by_hand)
    assert field is None


def test_it_is_shown_as_text_with_secrets_masked(with_line):
    _, html = with_line(lambda line: None, STARTED, SAID)
    assert "<b>You:</b> use &lt;tabs&gt;" in html
    assert "a1B2a1B2" not in html


def test_it_stands_in_the_record_behind_what_the_model_was_saying():
    record = Record()
    for event in (
        STARTED,
        StepStarted(number=1),
        TextStreamed(text="I look"),
        SAID,
        StepFinished(number=1, text="I look at it."),
        StepFinished(number=2, text="Done."),
        TurnFinished(status="done", text="Done."),
    ):
        record(event)
    bundle = record.bundle()
    kinds = [part["type"] for part in bundle[MIME]["events"]]
    assert kinds == ["said", "spoken", "said"]
    assert "<b>You:</b> use &lt;tabs&gt;<br>" in bundle["text/html"]
    assert "> **You:** use" in bundle["text/markdown"]
    assert "\n  You: use <tabs>" in bundle["text/plain"]
    assert not [mime for mime, text in bundle.items() if "a1B2a1B2" in str(text)]


def test_a_terminal_prints_it():
    printed = []
    view = TextView(printed.append)
    view(SAID)
    assert "  You: use <tabs>" in "".join(printed)
    assert "a1B2a1B2" not in "".join(printed)
