"""Commands of every kind, each with the verdict it must get."""

from pathlib import Path

import pytest

from tools.safety import judge_command

LINES = (Path(__file__).parent / "cases.txt").read_text(encoding="utf-8").splitlines()
CASES = [tuple(line.split(maxsplit=1)) for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize(("verdict", "command"), CASES)
def test_a_command_gets_its_verdict(verdict, command):
    judgement = judge_command(command, "/data/project")
    assert judgement.verdict == verdict, judgement.reason
