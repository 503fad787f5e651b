from __future__ import annotations

import asyncio

import pytest

from hermes_jupyter.calls import Ruling
from hermes_jupyter.events import ApprovalRequested, ApprovalResolved
from hermes_jupyter.views.prompts import approval_prompt, ruling_of
from hermes_jupyter.views.text import MAX_PROMPTS, TextView

OFFERS = {"editable": "command", "rule": "terminal(pytest *)"}


def dialogue(desk, request, *entered, prefills=False):
    """Have a person enter these lines; what they were asked, and offered to begin with."""
    asked, out, lines = [], [], iter(entered)

    async def ask(prompt, prefill):
        asked.append((prompt, prefill))
        return next(lines)

    async def main():
        view = TextView(out.append, ask, desk=desk, prefills=prefills)
        view(ApprovalRequested(request=request))
        await asyncio.gather(*view._prompts.values())

    asyncio.run(main())
    return asked, "".join(out)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("a", Ruling(decision="always")),
        ("E", "edit"),
        ("use staging", Ruling(decision="deny", note="use staging")),
        ("no, not now", Ruling(decision="deny", note="no, not now")),
        ("yes please", Ruling(decision="deny", note="yes please")),
        ("NO", Ruling(decision="deny")),
        ("x", Ruling(decision="deny")),
    ],
)
def test_a_line_is_a_clear_word_or_a_reason_to_deny(make, line, meant):
    assert ruling_of(line, make.approval(make.call(), **OFFERS)) == meant


def test_the_prompt_offers_only_what_can_be_had(make):
    plain = approval_prompt(make.approval(make.call()))
    full = approval_prompt(make.approval(make.call(), **OFFERS))
    assert "always" not in plain
    assert "edit" not in plain
    assert "    always: terminal(pytest *)\n" in full
    assert "y = once, s = this session, a = always, e = edit" in full
    assert full.endswith("Enter = no: ")


def test_the_prompt_says_who_asks_what_it_does_and_why(make):
    about = {"effects": ("deletes a", "needs root"), "purpose": "tidy\nup", "asker": "child"}
    prompt = approval_prompt(make.approval(make.call(), **about))
    assert "terminal (for child): deletes a folder" in prompt
    assert "    • deletes a\n    • needs root\n" in prompt
    assert "    the model says: “tidy up”\n" in prompt


@pytest.mark.parametrize("name", ["rule", "asker", "purpose", "cwd"])
def test_no_text_of_others_writes_a_line_of_the_prompt(make, name):
    request = make.approval(make.call())
    forged = {**{field: getattr(request, field) for field in request.__slots__}, name: "a\nFAKE"}
    assert "\nFAKE" not in approval_prompt(type(request)(**forged))


def test_what_is_not_offered_is_asked_again(make, desk):
    asked, _ = dialogue(desk, make.approval(make.call()), "a", "e", "y")
    assert [prompt.startswith("  Not offered") for prompt, _ in asked] == [False, True, True]
    assert desk.rulings == [Ruling(decision="once")]


def test_lines_without_end_are_no_person(make, desk):
    dialogue(desk, make.approval(make.call()), *["e"] * (MAX_PROMPTS + 5))
    assert desk.rulings == [Ruling(decision="deny")]


def test_an_edit_is_shown_again_and_needs_a_yes(make, desk):
    request = make.approval(make.call(command="rm old.log"), **OFFERS)
    asked, _ = dialogue(desk, request, "e", "rm \u202enew.log", "y")
    assert "      rm ⟨U+202E⟩new.log\n" in asked[2][0]
    assert desk.rulings == [Ruling(decision="once", edited="rm \u202enew.log")]


@pytest.mark.parametrize("last", ["", "s", "n", "a"])
def test_only_yes_runs_an_edit(make, desk, last):
    dialogue(desk, make.approval(make.call(), **OFFERS), "e", "rm new.log", last)
    assert desk.rulings == [Ruling(decision="deny")]


def test_an_edit_can_be_edited_again(make, desk):
    request = make.approval(make.call(command="rm old.log"), **OFFERS)
    asked, _ = dialogue(desk, request, "e", "rm nwe.log", "e", "rm new.log", "y", prefills=True)
    assert [prefill for _, prefill in asked] == ["", "rm old.log", "", "rm nwe.log", ""]
    assert desk.rulings == [Ruling(decision="once", edited="rm new.log")]


def test_an_empty_edit_goes_back_to_the_question(make, desk):
    asked, _ = dialogue(desk, make.approval(make.call(), **OFFERS), "e", "", "s")
    assert asked[2][0].startswith("  Nothing to run. y = once")
    assert desk.rulings == [Ruling(decision="session")]


def test_a_text_of_several_lines_ends_with_a_dot(make, desk):
    request = make.approval(make.call(command="rm a\nrm b"), **OFFERS)
    asked, _ = dialogue(desk, request, "e", "rm c", "", "rm d", ".", "y", prefills=True)
    assert [prompt for prompt, _ in asked[2:5]] == ["", "", ""]
    assert desk.rulings == [Ruling(decision="once", edited="rm c\n\nrm d")]


def test_no_other_question_comes_into_an_edit(make, desk):
    asked, lines = [], iter(["e", "rm new", "y", "n"])

    async def ask(prompt, prefill):
        asked.append(prompt)
        await asyncio.sleep(0)
        return next(lines)

    async def main():
        view = TextView(lambda text: None, ask, desk=desk)
        for number in (1, 2):
            view(ApprovalRequested(request=make.approval(make.call(number), **OFFERS)))
        await asyncio.gather(*view._prompts.values())

    asyncio.run(main())
    assert [ruling.decision for ruling in desk.rulings] == ["once", "deny"]
    assert len(asked) == 4


def test_an_answer_that_comes_too_late_is_said_to_be_expired(make, desk):
    desk.closed = True
    _, out = dialogue(desk, make.approval(make.call()), "y")
    assert "Expired: it was already answered" in out


def test_note_and_edit_are_part_of_what_is_shown(make):
    out = []
    view = TextView(out.append)
    request = make.approval(make.call(command="rm old.log"), **OFFERS)
    about = {"request": request, "by": "widget"}
    view(ApprovalResolved(decision="deny", note="use staging", **about))
    view(ApprovalResolved(decision="once", edited="rm new.log", **about))
    assert "⊘ Denied by you: use staging\n" in "".join(out)
    assert "✓ Edited by you\n      rm new.log\n" in "".join(out)
