from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import ipywidgets
import pytest

from hermes_jupyter.calls import Child, Question, Ruling, Usage
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    ChildFinished,
    ChildrenPlanned,
    ChildStarted,
    ChildTold,
    ModelCalled,
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
from hermes_jupyter.views.live import WidgetView
from hermes_jupyter.views.pace import SHORTEST
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
        await asyncio.sleep(2 * SHORTEST)
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


@pytest.mark.parametrize(("by", "said"), [("widget", "a"), ("panel", "a (by you in the panel)")])
def test_an_answered_question_becomes_a_line(cell, view_events, by, said):
    question = Question(id="q", text="Which **one**?", choices=("a",))
    answered = QuestionAnswered(question=question, answer="a", by=by)
    asked = QuestionAsked(question=question)
    html = view_events(STARTED, asked, answered, look=lambda: shown(cell))
    assert "<strong>one</strong>" in html
    assert f"↳ {said}</span>" in html


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


def children(make, *names):
    """A call that has started children of these names."""
    call = make.call(1, name="delegate_task", tasks=[{"goal": name} for name in names])
    started = [
        ChildStarted(
            call_id="1", child=Child(id=name, number=n, name=f"{n}: {name}", goal=name, steps=50)
        )
        for n, name in enumerate(names, 1)
    ]
    planned = ChildrenPlanned(call_id="1", number=len(names))
    return [STARTED, BatchStarted(calls=(call,)), ToolCallStarted(call=call), planned, *started]


def told(name, *events):
    return [ChildTold(child=name, event=event) for event in events]


def test_each_child_has_a_line_that_says_what_it_does_now(cell, make, view_events):
    running = [StepStarted(number=2), ToolCallStarted(call=make.call(1, command="wc -l a.txt"))]
    events = [*children(make, "count", "write"), *told("count", *running)]
    events += told("write", StepStarted(number=1), TextStreamed(text="Once upon a time"))
    html = view_events(*events, look=lambda: shown(cell))
    assert "terminal wc -l a.txt" in html
    assert "Writing · Once upon a time" in html
    assert "step 2 · 0 s" in html
    assert "0 of 2 done" in html


def test_what_children_take_is_counted_in_the_line_below_the_turn(cell, make, view_events):
    used = ModelCalled(number=1, model="m", usage=Usage(prompt_tokens=700), seconds=1.0)
    events = [*children(make, "count"), *told("count", used, used)]
    html = view_events(*events, look=lambda: shown(cell))
    assert "1,400 tokens" in html.split('"hermes-status"')[1]


def test_a_childs_question_stands_in_its_lane_and_not_at_a_call_of_the_same_id(
    cell, desk, make, view_events
):
    request = make.approval(make.call(1), asker="1: tidy", path=("tidy",))
    events = [*children(make, "tidy"), ApprovalRequested(request=request)]

    def look():
        buttons(cell)["Allow once"].click()
        return shown(cell)

    html = view_events(*events, look=look)
    assert "for 1: tidy" in html
    assert [ruling.decision for ruling in desk.rulings] == ["once"]


def test_an_answer_to_a_child_changes_no_call_of_the_same_id(cell, make, view_events):
    request = make.approval(make.call(1), asker="1: tidy", path=("tidy",))
    resolved = ApprovalResolved(request=request, decision="once", by="widget")
    events = [*children(make, "tidy"), ApprovalRequested(request=request), resolved]
    html = view_events(*events, look=lambda: shown(cell))
    assert 'class="hermes-call hermes-is-running"' in html


def test_a_child_can_be_stopped_and_its_details_opened(cell, desk, make, view_events):
    call = make.call(1, command="ls -la")
    inside = [BatchStarted(calls=(call,)), make.finished(call, "two files")]
    events = [*children(make, "look"), *told("look", *inside)]

    def look():
        before = shown(cell)
        buttons(cell)["Stop"].click()
        buttons(cell)["Details"].click()
        return before

    before = view_events(*events, look=look)
    assert desk.stopped == ["look"]
    assert "two files" not in before


def test_details_show_what_is_complete_and_stay_as_they_are(cell, desk, make):
    call, more = make.call(1, command="ls -la"), make.call(2, command="pwd")

    async def main():
        view = WidgetView(cell, desk, "d1")
        for event in [*children(make, "look"), *told("look", BatchStarted(calls=(call,)))]:
            view(event)
        view(told("look", make.finished(call, "two files"))[0])
        buttons(cell)["Details"].click()
        await asyncio.sleep(0)
        opened = shown(cell)
        first = view._lanes["1"]._lanes["look"]._details.box.children[0]
        for event in told("look", BatchStarted(calls=(more,)), make.finished(more, "/home")):
            view(event)
        view._refresh()
        kept = view._lanes["1"]._lanes["look"]._details.box.children[0] is first
        later = shown(cell)
        buttons(cell)["Details"].click()
        await asyncio.sleep(0)
        closed = shown(cell)
        view.final({})
        return opened, kept, later, closed

    opened, kept, later, closed = asyncio.run(main())
    assert "two files" in opened
    assert kept
    assert "/home" in later
    assert "two files" not in closed


def test_a_child_that_has_ended_is_one_line(cell, make, view_events):
    events = children(make, "count", "write")
    events += told("count", StepStarted(number=1), TextStreamed(text="streamed"))
    child = events[4].child
    usage = Usage(prompt_tokens=2_000)
    events.append(
        ChildFinished(call_id="1", child=child, status="error", reason="no model", steps=3,
                      seconds=12, usage=usage)
    )  # fmt: skip
    html = view_events(*events, look=lambda: shown(cell))
    assert "failed: no model · 3 steps · 2,000 tokens · 12 s" in html
    assert "streamed" not in html
    assert "1 of 2 done" in html


def test_of_many_children_the_first_that_have_ended_are_only_counted(cell, make, view_events):
    names = [f"n{number:02}" for number in range(40)]
    events = children(make, *names)
    ended = [
        ChildFinished(call_id="1", child=event.child, status="completed") for event in events[4:34]
    ]
    html = view_events(*events[:4], *[e for pair in zip(events[4:34], ended, strict=True)
                                     for e in pair], *events[34:],
                       look=lambda: shown(cell))  # fmt: skip
    assert html.count('<div class="hermes-child-line') == 12
    assert "30 of 40 done" in html
    assert "n39" in html


def test_nothing_of_lanes_is_left_after_the_end(cell, make, view_events):
    before = set(ipywidgets.widgets.widget._instances)
    view_events(*children(make, "a", "b", "c"))
    assert set(ipywidgets.widgets.widget._instances) == before


def test_a_call_of_a_script_is_shown_in_the_card_of_the_script(make, view_events, cell):
    call = make.call(command="the script")
    inner = replace(make.call(command="inner"), id=f"{call.id}.1", by=call.id)
    request = make.approval(inner)
    seen = []

    def look():
        seen.append((shown(cell), list(buttons(cell))))

    events = [
        STARTED, BatchStarted(calls=(call,)), ToolCallStarted(call=call),
        ApprovalRequested(request=request),
    ]  # fmt: skip
    view_events(*events, look=look)
    cell.displayed.clear()
    ended = ApprovalResolved(request=request, decision="once", by="widget")
    view_events(*events, ended, ToolCallStarted(call=inner), make.finished(inner), look=look)
    (asking, offered), (after, _) = seen
    assert "Allow once" in offered
    assert asking.count('class="hermes-name"') == after.count('class="hermes-name"') == 1
    assert "hermes-is-asking" in asking
    assert "hermes-is-running" in after


def test_what_only_the_person_reads_is_folded_in_the_card(make, view_events, cell):
    call = make.call(command="x")
    finished = make.finished(call)
    finished = replace(finished, result=replace(finished.result, details="Traceback <x>"))
    seen = []
    view_events(
        STARTED, BatchStarted(calls=(call,)), ToolCallStarted(call=call), finished,
        look=lambda: seen.append(shown(cell)),
    )  # fmt: skip
    assert "<summary>In full</summary>" in seen[0]
    assert "Traceback &lt;x&gt;" in seen[0]
