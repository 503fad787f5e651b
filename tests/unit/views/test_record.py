from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from hermes_jupyter.calls import Question
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    NoticeGiven,
    QuestionAnswered,
    ReplayCompared,
    StepFinished,
    StepStarted,
    TextStreamed,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.limits import MAX_BYTES
from hermes_jupyter.views.record import MIME, Record


def bundle_of(*events):
    record = Record(emoji=lambda name: "💻")
    for event in events:
        record(event)
    return record.bundle()


@pytest.fixture
def one_call(make):
    call = make.call(command="ls -la")
    return [BatchStarted(calls=(call,)), ToolCallStarted(call=call), make.finished(call, "a.txt")]


def test_texts_and_calls_keep_their_order_and_the_answer_comes_once(make, one_call):
    said = StepFinished(number=1, text="I look first.")
    bundle = bundle_of(*make.turn(said, *one_call, answer="There is a.txt now."))
    for mime in ("text/plain", "text/markdown", "text/html"):
        places = [bundle[mime].index(text) for text in ("I look first", "ls -la", "There is")]
        assert places == sorted(places)
        assert bundle[mime].count("There is a.txt now.") == 1


def test_html_has_a_fold_per_call_with_its_result(make, one_call):
    html = bundle_of(*make.turn(*one_call))["text/html"]
    assert "<details" in html
    assert "<code>ls -la</code>" in html
    assert "✓ done · 1.5 s" in html
    assert ">a.txt</pre>" in html


def test_thoughts_are_folded_in_html_and_left_out_of_texts(make):
    said = StepFinished(number=1, text="Paris.", reasoning="Hm, <b>France.")
    bundle = bundle_of(*make.turn(said, answer="Paris."))
    html = bundle["text/html"]
    assert "Thought, 2 words</summary>" in html
    assert html.index("Hm, &lt;b&gt;France.") < html.index("Paris.")
    assert "France" not in bundle["text/plain"] + bundle["text/markdown"]
    assert bundle[MIME]["events"][0] == {"type": "thought", "text": "Hm, <b>France."}


def test_the_footer_tells_the_cost_if_somebody_says_so(make):
    *events, finished = make.turn(answer="Paris.")
    paid = replace(finished, usage=replace(finished.usage, cost=0.0042))
    partly = replace(paid, usage=replace(paid.usage, unpriced_calls=1))
    assert "· $0.0042 ·" in bundle_of(*events, paid)["text/plain"]
    assert "· more than $0.0042 ·" in bundle_of(*events, partly)["text/plain"]
    assert "$" not in bundle_of(*events, finished)["text/plain"]


def test_html_needs_no_script_and_no_style_sheet(make, one_call):
    html = bundle_of(*make.turn(*one_call, answer="```py\nx\n```"))["text/html"]
    assert "<script" not in html
    assert "<style" not in html
    assert not re.search(r"color:\s*(#|white|black)", html)


def test_many_calls_in_a_row_share_one_fold(make):
    calls = [make.call(n, "read_file", path=f"{n}.txt") for n in range(9)]
    ends = [make.finished(call, "no", "error" if call.id == "3" else "ok") for call in calls]
    html = bundle_of(*make.turn(BatchStarted(calls=tuple(calls)), *ends))["text/html"]
    assert "9 tool calls: read_file ×9 · 1 failed</summary>" in html


def test_who_decided_is_part_of_the_record(make):
    call = make.call(command="rm x")
    bundle = bundle_of(
        *make.turn(
            BatchStarted(calls=(call,)),
            ApprovalResolved(request=make.approval(call), decision="deny", by="policy"),
            make.finished(call, "denied", "denied"),
        )
    )
    assert "⊘ Denied because nobody could be asked" in bundle["text/html"]
    assert "⊘ Denied because nobody could be asked" in bundle["text/plain"]
    assert bundle[MIME]["events"][0]["decisions"] == ["Denied because nobody could be asked"]


def test_json_is_an_object_with_the_facts_of_the_turn(make, one_call):
    turn = bundle_of(*make.turn(*one_call))[MIME]
    assert (turn["v"], turn["session"], turn["turn"], turn["status"]) == (2, "s", "t", "done")
    assert turn["usage"]["prompt_tokens"] == 1200
    assert len(turn["prompt_sha256"]) == 64
    assert [event["type"] for event in turn["events"]] == ["called", "said"]
    json.dumps(turn)


@pytest.mark.parametrize(
    ("status", "word"),
    [("failed", "Failed"), ("interrupted", "Interrupted"), ("stopped", "Stopped")],
)
def test_a_turn_that_did_not_end_well_says_so(make, status, word):
    events = make.turn(answer="", status=status)
    bundle = bundle_of(*events)
    for mime in ("text/plain", "text/markdown", "text/html"):
        assert word in bundle[mime]


def test_a_turn_without_an_end_reads_as_interrupted_and_keeps_its_text(make):
    bundle = bundle_of(*make.turn()[:1], TextStreamed(text="Half a sen"))
    assert bundle[MIME]["status"] == "interrupted"
    assert "Half a sen" in bundle["text/html"]


def test_looking_at_the_record_of_a_running_turn_changes_nothing(make):
    events = make.turn(TextStreamed(text="Done"))
    record = Record()
    for event in events:
        record(event)
        record.bundle()
    assert record.bundle()[MIME]["status"] == "done"
    assert record.bundle()["text/html"].count("Done") == 1


def test_text_of_a_model_call_that_broke_is_forgotten(make):
    bundle = bundle_of(
        *make.turn(StepStarted(number=1), TextStreamed(text="brok"), StepStarted(number=1))
    )
    assert "brok" not in bundle["text/html"]


def test_only_warnings_stay_and_the_last_of_a_key_wins(make):
    notices = [
        NoticeGiven(text="loading 10 %", key="k"),
        NoticeGiven(text="try 1", level="warning", key="r"),
        NoticeGiven(text="try 2", level="warning", key="r"),
    ]
    html = bundle_of(*make.turn(*notices))["text/html"]
    assert "try 2" in html
    assert "try 1" not in html
    assert "loading" not in html


def test_questions_and_answers_stay(make):
    question = Question(id="q", text="Which **one**?", choices=("a", "b"))
    asked = QuestionAnswered(question=question, answer="b", by="widget")
    bundle = bundle_of(*make.turn(asked))
    assert "<strong>one</strong>" in bundle["text/html"]
    assert "↳ <b>b</b>" in bundle["text/html"]


def test_hostile_text_is_harmless_everywhere(make, hostile):
    call = make.call(hostile, name=hostile, command=hostile, **{hostile: [hostile]})
    bundle = bundle_of(
        TurnStarted(session="s", turn="t", prompt=hostile, model=hostile, steps=1),
        BatchStarted(calls=(call,)),
        ApprovalResolved(request=make.approval(call), decision="once", by=hostile),
        make.finished(call, hostile, "error"),
        NoticeGiven(text=hostile, level="warning"),
        QuestionAnswered(question=Question(id="q", text=hostile), answer=hostile, by="x"),
        *make.turn(answer=hostile)[1:],
    )
    written = json.dumps(bundle, ensure_ascii=False)
    written.encode("utf-8")
    assert not {"\x1b", "\x00", "\x07", "\u202e", "\u2066"} & set(written)
    assert "<script" not in bundle["text/html"]
    assert "<img" not in bundle["text/html"]
    assert "<script" not in re.sub(r"`[^`]*`", "", bundle["text/markdown"])
    assert bundle["text/html"].count("<details") == bundle["text/html"].count("</details>")


def test_secrets_are_masked_in_every_rendering(make):
    secret = "ghp_" + "a1B2" * 9
    call = make.call(command=f"curl -H 'Authorization: token {secret}' x", token=secret)
    bundle = bundle_of(
        *make.turn(
            BatchStarted(calls=(call,)),
            make.finished(call, f'{{"output": "{secret}"}}', "error"),
            NoticeGiven(text=secret, level="warning"),
            answer=f"It is {secret}.",
        )
    )
    assert secret not in json.dumps(bundle)
    assert "«redacted:ghp_…»" in bundle["text/html"]


@pytest.mark.parametrize("piece", ["<", "x ", "é😀", "**a** ", "\n"])
def test_whatever_comes_the_record_stays_small(make, piece):
    long = piece * (1_000_000 // len(piece))
    calls = [make.call(n, "terminal", command=long[:50_000]) for n in range(30)]
    ends = [make.finished(call, long[:100_000]) for call in calls]
    said = [StepFinished(number=n, text=long[:100_000]) for n in range(10)]
    bundle = bundle_of(*make.turn(BatchStarted(calls=tuple(calls)), *ends, *said, answer=long))
    for part in bundle.values():
        assert len(json.dumps(part, ensure_ascii=False).encode()) < 1.5 * MAX_BYTES


def test_a_long_result_keeps_its_ends_and_says_how_much_is_missing(make):
    call = make.call()
    text = "START" + "x" * 50_000 + "THE END"
    html = bundle_of(*make.turn(BatchStarted(calls=(call,)), make.finished(call, text)))[
        "text/html"
    ]
    assert "START" in html
    assert "THE END" in html
    assert "characters left out" in html


def test_the_same_events_make_the_same_bundle(make, one_call):
    events = make.turn(*one_call)
    assert bundle_of(*events) == bundle_of(*events)


@pytest.mark.parametrize("text", ["a.txt\nb.txt", "```\nnot the end\n```"])
def test_the_answer_to_a_call_by_hand_is_seen_at_once(make, text):
    call = make.call(command="ls")
    bundle = bundle_of(
        TurnStarted(session="s", turn="t", prompt="p", model="", steps=0),
        BatchStarted(calls=(call,)),
        make.finished(call, text),
        TurnFinished(status="done", text="", seconds=1.5),
    )
    for mime in ("text/plain", "text/markdown", "text/html"):
        assert all(line in bundle[mime] for line in text.splitlines()), mime
        assert "step" not in bundle[mime]
    assert " open><summary>" in bundle["text/html"]


def decided_call(make, **decided):
    call = make.call(command="rm old.log")
    request = make.approval(call, editable="command")
    about = {"request": request, "by": "widget", **decided}
    return call, [BatchStarted(calls=(call,)), ApprovalResolved(**about)]


def test_a_note_is_kept_and_its_secrets_are_not(make):
    note = "use *staging*, ghp_" + "a1B2" * 9
    call, events = decided_call(make, decision="deny", note=note)
    bundle = bundle_of(*make.turn(*events, make.finished(call, "denied", "denied")))
    assert "⊘ Denied by you: use *staging*, «redacted:ghp_…»" in bundle["text/plain"]
    for rendering in bundle.values():
        assert "a1B2a1B2" not in json.dumps(rendering)


def test_an_edit_is_kept_beside_what_the_model_wanted(make):
    call, events = decided_call(make, decision="once", edited="rm <new>.log\nls")
    bundle = bundle_of(*make.turn(*events, make.finished(call)))
    assert "<code>rm old.log</code>" in bundle["text/html"]
    assert "Edited by you, then run" in bundle["text/html"]
    assert ">rm &lt;new&gt;.log\nls</pre>" in bundle["text/html"]
    assert "Edited by you, then run:\n        rm <new>.log\n        ls\n" in bundle["text/plain"]
    assert "Edited by you, then run:\n\n```\nrm <new>.log\nls\n```" in bundle["text/markdown"]
    assert bundle[MIME]["events"][0]["edited"] == "rm <new>.log\nls"


def test_an_edit_that_was_not_run_does_not_read_as_if(make):
    call, events = decided_call(make, decision="once", edited="rm -rf /")
    end = make.finished(call, "blocked", "denied")
    bundle = bundle_of(*make.turn(*events, end))
    assert "⊘ denied · 1.5 s · Edited by you" in bundle["text/plain"]
    assert "then run" not in bundle["text/plain"]


def test_a_turn_that_was_made_again_says_so(make):
    started, *rest = make.turn()
    at = "2026-11-30T12:04:59Z"
    for how, said in (
        ("record", "replayed from 2026-11-30 12:04 UTC, nothing was run"),
        ("tools", "replayed from 2026-11-30 12:04 UTC, its tools run again"),
        ("kept", "kept from 2026-11-30 12:04 UTC; --fresh asks anew"),
    ):
        bundle = bundle_of(replace(started, replayed=how, recorded_at=at), *rest)
        for mime in ("text/plain", "text/markdown", "text/html"):
            assert said in bundle[mime]
        assert bundle[MIME]["replayed"] == {"how": how, "recorded_at": at}


def test_what_differs_from_the_recording_is_shown(make, hostile):
    compared = ReplayCompared(differences=(f"terminal: ok\n-{hostile}", "other: ok\n+x"))
    bundle = bundle_of(*make.turn(compared))
    for mime in ("text/plain", "text/markdown", "text/html"):
        assert "2 calls answered in another way than recorded" in bundle[mime]
        assert "+x" in bundle[mime]
    assert "<script" not in bundle["text/html"]


def test_a_record_that_was_cut_says_where_the_rest_is(make):
    started, *rest = make.turn(answer="x" * 200_000)
    started = replace(started, session_id="20261130-120000-0123456789")
    bundle = bundle_of(started, *rest)
    assert bundle[MIME]["whole"] == {"session_id": started.session_id, "turn": "t"}
    for mime in ("text/plain", "text/markdown", "text/html"):
        assert f"the whole turn: %hermes export {started.session_id} FILE" in bundle[mime]
    short = bundle_of(started, *make.turn()[1:])
    assert "whole" not in short[MIME]
    assert "the whole turn" not in short["text/plain"]


def test_a_traceback_is_folded_below_the_answer_that_the_model_read(make):
    call = make.call(command="x")
    finished = make.finished(call, '{"error": "KeyError: 1"}')
    result = replace(finished.result, details="Traceback <b>\nKeyError: 1")
    bundle = bundle_of(*make.turn(BatchStarted(calls=(call,)), replace(finished, result=result)))
    html = bundle["text/html"]
    assert "<details><summary>In full</summary>" in html
    assert "Traceback &lt;b&gt;" in html
    assert "Traceback" not in bundle["text/plain"] + bundle["text/markdown"]
    assert bundle[MIME]["events"][0]["details"].startswith("Traceback")


def test_calls_of_a_script_are_shown_only_if_somebody_decided_on_them(make, one_call):
    quiet, asked = (replace(make.call(command=f"in {n}"), id=f"1.{n}", by="1") for n in (1, 2))
    request = make.approval(asked)
    events = [
        ToolCallStarted(call=quiet),
        make.finished(quiet),
        ApprovalResolved(request=request, decision="once", by="widget"),
        ToolCallStarted(call=asked),
        make.finished(asked),
    ]
    text = bundle_of(*make.turn(*one_call, *events))["text/plain"]
    assert "in 1" not in text
    assert "in 2" in text
    assert "Allowed once by you" in text


def test_the_record_says_when_a_call_began(make):
    call = make.call(command="ls")
    started = replace(make.turn()[0], at=100.0)
    events = [BatchStarted(calls=(call,)), ToolCallStarted(call=call, at=102.54)]
    turn = bundle_of(started, *events, make.finished(call, "x"))[MIME]
    assert turn["events"][0]["at"] == 2.5


def test_the_record_says_nothing_of_when_if_nobody_knows(one_call, make):
    assert "at" not in bundle_of(*make.turn(*one_call))[MIME]["events"][0]
