"""A command that is made of parts gets at least the verdict of each, wherever the part stands."""

import json
from pathlib import Path

import pytest

from tools.safety import judge_command

CASES = Path(__file__).parents[3] / "cases" / "commands.jsonl"
STEP = 23
"""Every so many-th case: each around another, but of all kinds."""
LONGEST = 300
STRICTNESS = ("safe", "ask", "block")
AROUND = (
    "ls\n{}", "ls >/dev/null\n{}", "sort < x\n{}", "cat <<< x\n{}", "# it's\n{}",
    "some_word=1\n{}",
    "export A=1\n{}", "echo 'a\nb'\n{}", 'echo "a\nb"\n{}', "ls 2>&1\n{}", "ls | wc\n{}",
    "ls &\n{}",
    "ls # c\n{}", "\n\n\t{}", "cat <<E\nx\nE\n{}", "if true; then\n{}\nfi", "{{\n{}\n}}",
    "(\n{}\n)",
    "true ||\n{}", "true &&\n{}", "for i in 1; do\n{}\ndone", "case a in\na)\n{}\n;;\nesac",
    "while true; do\n{}\ndone", "echo $(\n{}\n)", "cat <(\n{}\n)", "if\n{}\nthen ls; fi",
    "\\\n{}", "ls\n\\\n{}", "ls;\\\n{}", "ls &&\\\n{}", "true # ;\\\n{}", "function g {{\n{}\n}}",
    "{{\n{{\n{}\n}}\n}} >/dev/null", "(ls)\n{}", "for i in 1; do ls; done\n{}", "{}\nls",
    "! ls\n{}",
)  # fmt: skip


def dangerous():
    rows = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    found = [each for each in rows if each["expected"] != "safe" and len(each["input"]) < LONGEST]
    return [each["input"] for each in found[::STEP]]


@pytest.mark.parametrize("around", AROUND)
def test_what_stands_around_a_command_makes_it_no_safer(around):
    softened = {}
    for command in dangerous():
        alone = judge_command(command, "/data/project").verdict
        inside = judge_command(around.format(command), "/data/project").verdict
        if STRICTNESS.index(inside) < STRICTNESS.index(alone):
            softened[command] = inside
    assert not softened
