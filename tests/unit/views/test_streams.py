"""Questions on standard input, and what was typed before them."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import sys
import tty

import pytest

from hermes_jupyter.views.streams import HASTY, READING_SECONDS, StandardStreams


@pytest.fixture
def answer_after(cell, monkeypatch):
    """Ask in a kernel whose front end answers after so many seconds; what it was asked."""

    def ask(*waits, prompt="Exactly this:\nAllow? "):
        now, asked, left = [0.0], [], list(waits)

        def entered(shown):
            asked.append(shown)
            now[0] += left.pop(0)
            return f"line {len(asked)}"

        monkeypatch.setattr("builtins.input", entered)
        streams = StandardStreams(cell, clock=lambda: now[0])
        return asyncio.run(streams.ask(prompt)), asked

    return ask


def test_an_answer_faster_than_anybody_reads_is_asked_again(answer_after):
    line, asked = answer_after(0.01, 0.02, READING_SECONDS)
    assert line == "line 3"
    assert asked[0].startswith("Exactly this:")
    assert asked[1] == asked[2] == f"{HASTY}\nAllow? "


def test_a_prompt_that_goes_on_takes_lines_as_they_come(answer_after):
    assert answer_after(0.0, prompt="") == ("line 1", [""])


def test_a_front_end_that_is_always_too_fast_is_nobody(answer_after):
    with pytest.raises(OSError, match="faster than anybody reads"):
        answer_after(*[0.0] * 99)


@pytest.fixture
def terminal(cell, monkeypatch):
    """The two ends of a pseudo terminal, the second of which is standard input."""
    cell.has_kernel = False
    far, near = pty.openpty()
    tty.setcbreak(near)
    with open(near, encoding="utf-8") as stdin:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        yield far
    os.close(far)


def test_what_was_typed_before_a_question_does_not_answer_it(cell, terminal, monkeypatch):
    def entered(prompt):
        os.write(terminal, b"typed after\n")
        return sys.stdin.readline().rstrip("\n")

    monkeypatch.setattr("builtins.input", entered)
    os.write(terminal, b"y\ny\n")
    assert asyncio.run(StandardStreams(cell).ask("Allow? ")) == "typed after"


def test_lines_that_were_pasted_are_kept_where_a_question_goes_on(cell, terminal, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: sys.stdin.readline().rstrip("\n"))
    os.write(terminal, b"second\n")
    assert asyncio.run(StandardStreams(cell).ask("")) == "second"


def test_piped_lines_answer(cell, monkeypatch):
    """A script may feed a program its answers; there is nothing to empty."""
    cell.has_kernel = False
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert asyncio.run(StandardStreams(cell).ask("Allow? ")) == "y"
