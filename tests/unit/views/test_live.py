from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import ipywidgets
import pytest

from hermes_jupyter.calls import Question, Ruling, Usage
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    NoticeGiven,
    QuestionAnswered,
    QuestionAsked,
    ReasoningStreamed,
    RetryPlanned,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallStarted,
    ToolOutputStreamed,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.live import REFRESH_SECONDS, WidgetView
from hermes_jupyter.views.widgets import WIDGET_MIME

STARTED = TurnStarted(session="s", turn="t", prompt="p", model="tiny", steps=9)


def descendants(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from descendants(child)


def shown(cell) -> str:
    """All HTML below the root widget, which is found as a front end finds it."""
    model_id = cell.displayed[0][0][WIDGET_MIME]["model_id"]
    root = ipywidgets.widgets.widget._instances[model_id]
    return "\n".join(getattr(widget, "value", "") for widget in descendants(root))


def buttons(cell) -> dict[str, ipywidgets.Button]:
    model_id = cell.displayed[0][0][WIDGET_MIME]["model_id"]
    root = ipywidgets.widgets.widget._instances[model_id]
    found = [widget for widget in descendants(root) if isinstance(widget, ipywidgets.Button)]
    return {button.description: button for button in found}


@pytest.fixture
def view_events(cell, desk):
    """Feed a view on a loop, look at it with ``look``, and close it."""

    def feed(*events, look=lambda: None, wait=0.0):
        async def main():
            view = WidgetView(cell, desk, "d1")
            for event in events:
                view(event)
            view._refresh()
            await asyncio.sleep(wait)
            result = look()
            view.final({"text/plain": "the end"})
            return result

        return asyncio.run(main())

    return feed


def test_the_root_is_displayed_once_and_prints_nothing_in_consoles(cell, view_events):
    view_events(STARTED)
    bundle, about = cell.displayed[0]
    assert "text/plain" not in bundle
    assert about["display_id"] == "d1"


def test_the_final_bundle_replaces_the_root_and_no_widget_is_left(cell, make, view_events):
    before = set(ipywidgets.widgets.widget._instances)
    view_events(*make.turn(BatchStarted(calls=(make.call(1), make.call(2)))))
    assert cell.displayed[-1] == ({"text/plain": "the end"}, {"display_id": "d1", "update": True})
    assert set(ipywidgets.widgets.widget._instances) == before


def test_every_widget_is_owned_before_it_opens(cell, view_events):
    seen = view_events(STARTED, look=lambda: set(cell.owned))
    assert cell.displayed[0][0][WIDGET_MIME]["model_id"] in seen


def test_text_streams_into_view(cell, view_events):
    pieces = [TextStreamed(text=piece) for piece in ("Hello **wo", "rld**\n\nnext")]
    html = view_events(STARTED, *pieces, look=lambda: shown(cell))
    assert "Hello <strong>world</strong>" in html
    assert "<p>next</p>" in html


def test_a_flood_of_pieces_makes_few_messages(cell, desk):
    async def main() -> int:
        view = WidgetView(cell, desk, "d1")
        view(STARTED)
        changes = []
        view._status.widget.observe(changes.append, "value")
        for _ in range(500):
            view(TextStreamed(text="word "))
        await asyncio.sleep(2 * REFRESH_SECONDS)
        view.final({})
        return len(changes)

    assert asyncio.run(main()) <= 3


def test_text_of_a_model_call_that_broke_is_withdrawn(cell, view_events):
    again = [StepStarted(number=1), TextStreamed(text="brok"), StepStarted(number=1)]
    assert "brok" not in view_events(STARTED, *again, look=lambda: shown(cell))


def test_a_card_goes_from_running_to_done(cell, make, view_events):
    call = make.call(command="ls -la")
    events = [STARTED, BatchStarted(calls=(call,)), ToolCallStarted(call=call)]
    output = ToolOutputStreamed(call=call, text="first\nlast \x1b[31mline\x1b[0m\n")
    running = view_events(*events, output, look=lambda: shown(cell))
    assert "hermes-is-running" in running
    assert ">last line<" in running


def test_a_finished_card_folds_its_result(cell, make, view_events):
    call = make.call(command="ls -la")
    end = make.finished(call, '{"output": "a.txt\\nb.txt"}')
    html = view_events(STARTED, BatchStarted(calls=(call,)), end, look=lambda: shown(cell))
    assert "hermes-is-ok" in html
    assert "</span> done · 1.5 s</span>" in html
    assert '<pre class="hermes-listing">a.txt\nb.txt</pre></details>' in html


def test_a_batch_says_how_far_it_is(cell, make, view_events):
    calls = tuple(make.call(number) for number in range(3))
    events = [STARTED, BatchStarted(calls=calls), make.finished(calls[1])]
    assert "1 of 3 done" in view_events(*events, look=lambda: shown(cell))


@pytest.mark.parametrize(
    ("label", "decision"),
    [("Allow once", "once"), ("Allow this session", "session"), ("Deny", "deny")],
)
def test_each_button_hands_its_decision_to_the_desk(cell, desk, make, view_events, label, decision):
    request = make.approval(make.call())
    press = lambda: buttons(cell)[label].click()  # noqa: E731
    view_events(STARTED, ApprovalRequested(request=request), look=press)
    assert desk.answers == [(request.id, Ruling(decision=decision), "widget", request.digest)]


def test_an_approval_card_shows_exactly_what_would_run(cell, make, view_events):
    request = make.approval(make.call(), "rm -rf <b>\u202ex\n" * 20)
    html = view_events(STARTED, ApprovalRequested(request=request), look=lambda: shown(cell))
    assert html.count("rm -rf &lt;b&gt;⟨U+202E⟩x") == 20
    assert "scroll to read them all" in html
    assert 'role="alertdialog" aria-live="assertive" aria-label="Approval needed' in html
    for fact in ("deletes a folder", "/home/ada", "deleting below /home/ada"):
        assert fact in html


def test_waiting_cards_are_answered_one_by_one(cell, make, view_events):
    requests = [make.approval(make.call(number)) for number in (1, 2)]
    asked = [ApprovalRequested(request=request) for request in requests]
    resolved = ApprovalResolved(request=requests[0], decision="deny", by="policy")

    def look():
        return shown(cell), buttons(cell)

    html, left = view_events(STARTED, *asked, resolved, look=look)
    assert "Denied because nobody could be asked" in html
    assert html.count("asks for approval") == 1
    assert set(left) == {"Allow once", "Allow this session", "Deny"}


def test_a_choice_is_a_reply(cell, desk, view_events):
    question = Question(id="q", text="Which?", choices=("red <b>", "blue"))
    press = lambda: buttons(cell)["red <b>"].click()  # noqa: E731
    view_events(STARTED, QuestionAsked(question=question), look=press)
    assert desk.replies == [("q", "red <b>", "widget")]


def test_an_answered_question_becomes_a_line(cell, view_events):
    question = Question(id="q", text="Which **one**?", choices=("a",))
    answered = QuestionAnswered(question=question, answer="a", by="widget")
    asked = QuestionAsked(question=question)
    html = view_events(STARTED, asked, answered, look=lambda: shown(cell))
    assert "<strong>one</strong>" in html
    assert "↳ a</span>" in html


def test_a_notice_replaces_the_last_one_of_its_key(cell, view_events):
    notices = [NoticeGiven(text=f"loading {n} %", key="load") for n in (10, 90)]
    html = view_events(STARTED, *notices, look=lambda: shown(cell))
    assert "loading 90 %" in html
    assert "loading 10 %" not in html


def test_the_status_line_tells_step_tokens_and_thought(cell, view_events):
    step = StepFinished(number=1, text="", usage=Usage(prompt_tokens=1000, completion_tokens=234))
    events = [STARTED, StepStarted(number=1), step, StepStarted(number=2)]
    thought = ReasoningStreamed(text="first\nI should look.")
    html = view_events(*events, thought, look=lambda: shown(cell))
    assert "tiny · step 2 of 9 · 1,234 tokens" in html
    assert "Thinking: I should look." in html


def test_the_status_line_tells_what_a_call_waits_for(cell, view_events):
    planned = RetryPlanned(reason="too many <b>requests", seconds=12.0, number=2, tries=3)
    waiting = view_events(STARTED, StepStarted(number=1), planned, look=lambda: shown(cell))
    assert "Trying again in 12 s (2 of 3): too many &lt;b&gt;requests" in waiting


def test_a_wait_is_over_when_the_model_speaks(cell, view_events):
    planned = RetryPlanned(reason="busy", seconds=12.0, number=2, tries=3)
    events = [STARTED, StepStarted(number=1), planned, TextStreamed(text="Well ")]
    assert "Trying" not in view_events(*events, look=lambda: shown(cell))


def test_the_status_line_tells_what_is_left_of_the_ceilings(cell, view_events):
    started = replace(STARTED, max_tokens=50_000, max_cost=0.5)
    step = StepFinished(number=1, text="", usage=Usage(prompt_tokens=1_200, cost=0.0123))
    html = view_events(started, StepStarted(number=1), step, look=lambda: shown(cell))
    assert "1,200 tokens, 48,800 left · $0.0123, $0.4877 left" in html


def test_thoughts_are_folded_before_what_was_said(cell, view_events):
    events = [
        STARTED,
        StepStarted(number=1),
        ReasoningStreamed(text="Let me <i>think"),
        ReasoningStreamed(text=" hard."),
        TextStreamed(text="Paris."),
        StepFinished(number=1, text="Paris.", reasoning="Let me <i>think hard."),
    ]
    html = view_events(*events, look=lambda: shown(cell))
    assert html.count("<details") == 1
    assert "Thought, 4 words" in html
    assert html.index("Let me &lt;i&gt;think hard.") < html.index("Paris.")


def test_a_turn_that_failed_says_why(cell, view_events):
    end = TurnFinished(status="failed", text="", reason="no <b>model")
    assert "Failed: no &lt;b&gt;model" in view_events(STARTED, end, look=lambda: shown(cell))


def test_hostile_text_is_harmless_in_every_widget(cell, make, view_events, hostile):
    call = make.call(name=hostile, command=hostile, other=hostile)
    html = view_events(
        TurnStarted(session="s", turn="t", prompt=hostile, model=hostile, steps=1),
        TextStreamed(text=hostile),
        ReasoningStreamed(text=hostile),
        StepFinished(number=1, text=hostile),
        ApprovalRequested(request=make.approval(call, hostile)),
        ToolOutputStreamed(call=call, text=hostile),
        make.finished(call, hostile, "error"),
        QuestionAsked(question=Question(id="q", text=hostile, choices=(hostile,))),
        NoticeGiven(text=hostile),
        TurnFinished(status="failed", text="", reason=hostile),
        look=lambda: shown(cell),
    )
    json.dumps(html).encode("utf-8")
    assert "<script" not in html
    assert "<img" not in html
    assert not {"\x1b", "\x00", "\u202e", "\ud800"} & set(html)


def test_a_call_that_no_batch_announced_gets_a_card_too(cell, make, view_events):
    call = make.call("nested", "read_file", path="a.txt")
    html = view_events(STARTED, ToolCallStarted(call=call), look=lambda: shown(cell))
    assert "a.txt" in html


def test_events_after_the_end_are_ignored(cell, desk, make):
    async def main() -> None:
        view = WidgetView(cell, desk, "d1")
        view.final({})
        for event in make.turn(ToolCallStarted(call=make.call())):
            view(event)

    asyncio.run(main())
    assert len(cell.displayed) == 2
