"""Which models are helped."""

import pytest

from hermes_jupyter.agent.profiles import FULL, SMALL, TINY, Profile, profile_for


@pytest.mark.parametrize(
    "name",
    [
        "qwen2.5-coder:1.5b", "Qwen/Qwen3-1.7B", "llama-3.2-3b-instruct", "gemma-3n-e2b-it",
        "smollm2", "phi-3-mini-4k-instruct", "deepseek-r1:1.5b-q4_K_M",
    ],
)  # fmt: skip
def test_a_model_whose_name_says_that_it_is_small_is_helped(name):
    assert profile_for(name) == SMALL


@pytest.mark.parametrize("name", ["Qwen/Qwen3-0.6B", "gemma3:270m", "llama-3.2-1b"])
def test_one_that_is_very_small_plans_first(name):
    assert profile_for(name) == TINY
    assert TINY.plan


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5-mini", "claude-haiku-4-5", "mistral-7b", "Qwen/Qwen3-30B-A3B", "gemini-2.5-flash",
        "llama3.1:70b", "o4-mini", "",
    ],
)  # fmt: skip
def test_any_other_is_taken_for_a_strong_one(name):
    assert profile_for(name) == FULL


@pytest.mark.parametrize(("chosen", "expected"), [("small", SMALL), ("full", FULL)])
def test_what_the_user_chooses_counts(chosen, expected):
    assert profile_for("gpt-5", chosen) == profile_for("qwen:0.5b", chosen) == expected


def test_a_strong_model_is_left_alone():
    assert Profile(name="full") == FULL
    assert [FULL.toolset, FULL.compact, FULL.constrained, FULL.second_look] == ["", *[False] * 3]
