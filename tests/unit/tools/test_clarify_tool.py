"""Questions to the person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools import clarify_tool  # noqa: F401  it registers itself
from tools.registry import registry


def call(ask: Any = None, **args: Any) -> dict[str, Any]:
    return json.loads(registry.dispatch("clarify", args, ask=ask))


def test_the_answer_comes_back_with_what_was_asked():
    asked = []

    def ask(question: str, choices: tuple[str, ...]) -> str:
        asked.append((question, choices))
        return "blue"

    assert call(ask, question=" Which? ", choices=["red", "blue", "red", " "]) == {
        "question": "Which?",
        "choices_offered": ["red", "blue"],
        "user_response": "blue",
    }
    assert asked == [("Which?", ("red", "blue"))]


def test_when_nobody_can_be_asked_the_model_is_told_to_go_on():
    answer = call(lambda question, choices: None, question="Which?")
    assert "best judgement" in answer["error"]


def test_without_an_agent_it_says_who_handles_it():
    assert call(question="Which?") == {"error": "clarify must be handled by the agent loop"}


@pytest.mark.parametrize(
    "args",
    [{}, {"question": " "}, {"question": 7}, {"question": "?", "choices": list("abcde")},
     {"question": "?", "choices": "ab"}, {"question": "?", "choices": [1]}],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_not_asked(args):
    assert call(lambda question, choices: pytest.fail("was asked"), **args)["error"]
