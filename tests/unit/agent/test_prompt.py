"""The system prompt in its layers."""

from __future__ import annotations

from dataclasses import replace

from hermes_jupyter.agent.prompt import IDENTITY, Knowledge, compact_prompt, system_prompt

FULL = Knowledge(
    identity="You are Ada.",
    skills="- plot: for plots",
    rules="Use ruff.",
    rules_from="AGENTS.md",
    notebook="/data/a.ipynb",
    memory="About the user:\n- likes tea",
    day="2026-11-30",
    session="main",
    model="m",
)


def test_what_changes_least_comes_first():
    text = system_prompt(["skill_view", "terminal"], "/data", FULL)
    parts = (
        "You are Ada.", "How to work:", "- plot: for plots", "working folder is /data",
        "/data/a.ipynb", "Use ruff.", "likes tea", "Today is 2026-11-30, session main, model m",
    )  # fmt: skip
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert IDENTITY not in text
    assert text.endswith("model m")


def test_guidance_and_skills_are_for_tools_that_are_there():
    text = system_prompt(["terminal"], "/data", FULL)
    assert "skill" not in text
    assert "terminal runs in one shell" in text


def test_with_nothing_known_it_is_short():
    assert len(system_prompt([], "/data")) < 1_200


def test_the_beginning_is_the_same_on_another_day():
    later = replace(FULL, day="2027-01-01", memory="")
    first, second = (system_prompt(["skill_view"], "/data", each) for each in (FULL, later))
    same = first.index("Remembered from")
    assert first[:same] == second[:same]


def test_a_small_model_is_told_little_and_the_same_in_every_session():
    told = [
        compact_prompt("/data", Knowledge(day="2026-01-02", session=name, model=name))
        for name in ("one", "two")
    ]
    assert told[0] == told[1]
    assert "/data" in told[0]
    assert len(told[0]) < 300


def test_rules_and_memory_are_told_to_a_small_model_too():
    told = compact_prompt("/data", Knowledge(rules="Use tabs.", rules_from="AGENTS.md", memory="M"))
    assert "<project_rules>\nUse tabs.\n</project_rules>" in told
    assert told.endswith("Remembered from earlier conversations:\nM")
