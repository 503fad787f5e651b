"""Text while it streams: nothing is lost, little is sent twice, and nobody waits for long."""

from __future__ import annotations

import re

import pytest

from hermes_jupyter.views.markdown import to_html
from hermes_jupyter.views.pace import FREE_RATE, LONGEST, SHORTEST, Pace
from hermes_jupyter.views.streaming import COLUMN_WIDGETS, TextSegment
from hermes_jupyter.views.widgets import Stage

ACTIVE = re.compile(r"<(script|img|iframe|svg)|<[^>]* on\w+=|href=.javascript", re.IGNORECASE)
PARAGRAPH = "The **third** quarter was better than the second in all regions, and `more` so.\n\n"


@pytest.fixture
def stage(cell):
    made = Stage(cell)
    yield made
    made.close()


def shown(body):
    """The HTML of all text widgets, in order."""
    widgets = [widget for column in body.children for widget in column.children]
    return "".join(widget.value for widget in widgets)


def plain(html):
    return html.replace('<div class="jp-RenderedHTMLCommon hermes-text">', "").replace("</div>", "")


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("piece", [1, 7, 400, 5_000])
def test_nothing_is_lost_and_the_order_is_kept(stage, quick, piece):
    text = PARAGRAPH * 60 + "```python\n" + "x = 1\n" * 80 + "```\n\nthe end"
    body = stage.column()
    segment = TextSegment(stage, body)
    for at in range(0, len(text), piece):
        segment.feed(text[at : at + piece])
        segment.refresh(whole=not quick)
    segment.refresh()
    assert not segment.is_stale
    assert plain(shown(body)) == to_html(text)


@pytest.mark.parametrize("piece", [1, 2, 3, 11])
def test_hostile_text_is_harmless_at_every_moment(stage, hostile, piece):
    text = f"{hostile}\n\n```html\n{hostile}\n```\n\n[x](javascript:alert(1)) \ud83d\ude00"
    body = stage.column()
    segment = TextSegment(stage, body)
    for at in range(0, len(text), piece):
        segment.feed(text[at : at + piece])
        segment.refresh()
        html = shown(body)
        html.encode()
        assert not ACTIVE.search(html)
        assert not {"\x1b", "\x00", "\u202e"} & set(html)
    assert "\U0001f600" in shown(body)


def test_what_is_finished_is_sent_once(stage):
    """Each update costs what is new, however long the text has become."""
    body = stage.column()
    segment = TextSegment(stage, body)
    costs = []
    for _ in range(400):
        segment.feed(PARAGRAPH)
        costs.append(segment.refresh(whole=False))
    early, late = sum(costs[50:100]), sum(costs[-50:])
    assert late < 1.3 * early


def test_columns_stay_short(stage):
    body = stage.column()
    segment = TextSegment(stage, body)
    for _ in range(400):
        segment.feed(PARAGRAPH * 12)
        segment.refresh(whole=False)
    assert max(len(column.children) for column in body.children) == COLUMN_WIDGETS
    assert len(body.children) < 40


def test_a_text_that_broke_is_taken_back_whole(stage):
    body = stage.column((stage.html("before"),))
    segment = TextSegment(stage, body)
    for _ in range(50):
        segment.feed(PARAGRAPH * 12)
        segment.refresh(whole=False)
    segment.withdraw()
    assert [child.value for child in body.children] == ["before"]


def streamed(rate, seconds, size_of):
    """Bytes sent and updates made for a text of so many characters a second."""
    pace, now, sent, count = Pace(), 100.0, 0, 0
    end = now + seconds
    while now < end:
        delay = pace.delay(now)
        now += delay
        new = int(rate * delay)
        pace.heard("x" * new)
        size = size_of(new)
        pace.sent(size, now)
        sent, count = sent + size, count + 1
    return sent, count


@pytest.mark.parametrize("rate", [1_000, 4_000, 20_000, 100_000])
def test_much_text_is_sent_in_proportion_to_it(rate):
    sent, _ = streamed(rate, 60, lambda new: 2_000 + 1.35 * new)
    assert sent <= 62 * max(FREE_RATE, 2.3 * rate)


@pytest.mark.parametrize("rate", [10, 50, 200, 400])
def test_little_text_is_shown_several_times_a_second(rate):
    _, count = streamed(rate, 60, lambda new: 1_000 + 1.35 * new)
    assert 60 * 4 <= count <= 60 / SHORTEST


def test_there_are_never_more_than_ten_updates_a_second_nor_less_than_one():
    for rate, size in ((1, 10), (1, 10**7), (10**6, 10), (10**6, 10**7)):
        _, count = streamed(rate, 60, lambda _new, size=size: size)
        assert 60 / LONGEST <= count <= 60 / SHORTEST + 1
