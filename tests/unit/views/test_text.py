from __future__ import annotations

import asyncio
import io
from dataclasses import replace

import pytest

from hermes_jupyter.calls import Question, Ruling
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    BatchStarted,
    NoticeGiven,
    QuestionAnswered,
    QuestionAsked,
    RetryPlanned,
    StepFinished,
    TextStreamed,
    ToolCallStarted,
)
from hermes_jupyter.views.text import TextView


def written(*events) -> str:
    out: list[str] = []
    view = TextView(out.append, emoji=lambda name: "💻")
    for event in events:
        view(event)
    return "".join(out)


async def settled() -> None:
    """Let the tasks of prompts run."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_turn_reads_from_top_to_bottom(make):
    call = make.call(command="ls -la")
    text = written(
        *make.turn(
            TextStreamed(text="I loo"),
            TextStreamed(text="k first."),
            StepFinished(number=1, text="I look first."),
            BatchStarted(calls=(call,)),
            ToolCallStarted(call=call),
            make.finished(call),
            answer="Done.",
        )
    )
    assert text == (
        "I look first.\n"
        "  💻 terminal  ls -la …\n"
        "  💻 terminal  ls -la  ✓ done · 1.5 s\n"
        "Done.\n"
        "tiny · 1 step · 1,234 tokens · 2.5 s\n"
    )


def test_a_wait_is_told_in_a_line():
    planned = RetryPlanned(reason="busy", seconds=2.0, number=2, tries=3)
    assert "Trying again in 2 s (2 of 3): busy\n" in written(planned)


def test_output_is_shown_only_of_calls_that_failed(make):
    call = make.call()
    assert "fine" not in written(make.finished(call, "fine"))
    assert "      no such file\n" in written(
        make.finished(call, '{"error":"no such file"}', "error")
    )


def test_a_turn_that_failed_says_why(make):
    assert "Failed\n" in written(*make.turn(answer="", status="failed"))


def test_secrets_are_masked_even_when_they_arrive_in_pieces():
    secret = "ghp_" + "a1B2" * 9
    pieces = [TextStreamed(text=secret[i : i + 5]) for i in range(0, len(secret), 5)]
    text = written(*pieces, StepFinished(number=1, text=secret))
    assert secret not in text
    assert "«redacted:ghp_…»" in text


def test_hostile_text_moves_no_cursor(make, hostile):
    call = make.call(name=hostile, command=hostile)
    text = written(
        *make.turn(
            ToolCallStarted(call=call),
            make.finished(call, hostile, "error"),
            NoticeGiven(text=hostile),
            ApprovalRequested(request=make.approval(call, hostile)),
            answer=hostile,
        )
    )
    assert not {"\x1b", "\x00", "\x07", "\u202e", "\ud800"} & set(text)


def test_colour_is_for_terminals_only(make):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, is_coloured in ((Terminal(), True), (io.StringIO(), False)):
        TextView(stream.write)(make.finished(make.call()))
        assert ("\x1b[32m" in stream.getvalue()) is is_coloured


@pytest.mark.parametrize(
    ("entered", "decision"),
    [
        ("y", "once"),
        ("YES ", "once"),
        ("s", "session"),
        ("", "deny"),
        ("n", "deny"),
        ("yy", "deny"),
    ],
)
def test_only_a_clear_yes_allows(make, desk, entered, decision):
    async def ask(prompt: str, prefill: str) -> str:
        return entered

    async def main() -> None:
        TextView(lambda text: None, ask, desk=desk)(ApprovalRequested(request=request))
        await settled()

    request = make.approval(make.call())
    asyncio.run(main())
    assert desk.answers == [(request.id, Ruling(decision=decision), "input", request.digest)]


@pytest.mark.parametrize(
    "error", [EOFError, InterruptedError, NotImplementedError, KeyboardInterrupt]
)
def test_a_prompt_that_fails_denies(make, desk, error):
    async def ask(prompt: str, prefill: str) -> str:
        raise error

    async def main() -> None:
        TextView(lambda text: None, ask, desk=desk)(
            ApprovalRequested(request=make.approval(make.call()))
        )
        await settled()

    asyncio.run(main())
    assert [ruling.decision for ruling in desk.rulings] == ["deny"]


def test_the_prompt_shows_exactly_what_would_run(make, desk):
    prompts = []

    async def ask(prompt: str, prefill: str) -> str:
        prompts.append(prompt)
        return ""

    async def main() -> None:
        request = make.approval(make.call(), "rm a\nrm \u202eb")
        TextView(lambda text: None, ask, desk=desk)(ApprovalRequested(request=request))
        await settled()

    asyncio.run(main())
    assert "      rm a\n      rm ⟨U+202E⟩b\n" in prompts[0]
    assert "in /home/ada" in prompts[0]
    assert "deletes a folder" in prompts[0]


def test_prompts_come_one_at_a_time_and_other_output_waits(make, desk):
    out, prompts = [], []

    async def main() -> None:
        answers: list[asyncio.Future[str]] = []

        async def ask(prompt: str, prefill: str) -> str:
            prompts.append(prompt)
            answers.append(asyncio.get_running_loop().create_future())
            return await answers[-1]

        view = TextView(out.append, ask, desk=desk)
        for number in (1, 2):
            view(ApprovalRequested(request=make.approval(make.call(number))))
        await settled()
        view(NoticeGiven(text="meanwhile"))
        assert (len(prompts), out) == (1, [])
        answers[0].set_result("y")
        await settled()
        assert len(prompts) == 2
        assert "meanwhile" in "".join(out)
        answers[1].set_result("")
        await settled()

    asyncio.run(main())
    assert [ruling.decision for ruling in desk.rulings] == ["once", "deny"]


def test_a_prompt_that_was_answered_elsewhere_is_withdrawn(make, desk):
    async def main() -> None:
        withdrawn = asyncio.Event()

        async def ask(prompt: str, prefill: str) -> str:
            try:
                return await asyncio.get_running_loop().create_future()
            finally:
                withdrawn.set()

        view = TextView(lambda text: None, ask, desk=desk)
        request = make.approval(make.call())
        view(ApprovalRequested(request=request))
        await settled()
        view(ApprovalResolved(request=request, decision="once", by="widget"))
        await asyncio.wait_for(withdrawn.wait(), 5)

    asyncio.run(main())
    assert desk.answers == []


@pytest.mark.parametrize(
    ("entered", "reply"), [("2", "blue"), ("9", "9"), (" green ", "green"), ("", None)]
)
def test_a_question_takes_a_number_or_words(desk, entered, reply):
    async def ask(prompt: str, prefill: str) -> str:
        assert "2. blue" in prompt
        return entered

    async def main() -> None:
        question = Question(id="q", text="Which colour?", choices=("red", "blue"))
        TextView(lambda text: None, ask, desk=desk)(QuestionAsked(question=question))
        await settled()

    asyncio.run(main())
    assert desk.replies == [("q", reply, "input")]


def test_an_answer_from_elsewhere_is_told_with_where_it_came_from():
    question = Question(id="q", text="Which colour?")
    answered = QuestionAnswered(question=question, answer="green", by="panel")
    assert written(answered) == "  green (by you in the panel)\n"


def test_a_password_is_asked_for_where_it_is_not_shown():
    asked, answers = [], []

    class Desk:
        def reply(self, _question, text, *, by):
            answers.append((text, by))
            return True

    async def hidden(prompt):
        asked.append(prompt)
        return " pass word "

    async def shown(_prompt):
        raise AssertionError("this would show it")

    async def go():
        view = TextView(lambda _text: None, shown, desk=Desk(), ask_secret=hidden)
        view(QuestionAsked(question=Question(id="q", text="Yours?", secret=True)))
        await asyncio.gather(*view._prompts.values())

    asyncio.run(go())
    assert asked[0].endswith("Password (Enter = none): ")
    assert answers == [(" pass word ", "input")]


def test_calls_of_a_script_make_no_lines(make):
    call = replace(make.call(command="inner"), by="c1")
    assert written(ToolCallStarted(call=call), make.finished(call)) == ""
