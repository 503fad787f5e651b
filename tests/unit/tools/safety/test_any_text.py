"""Any text gets a verdict, soon."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.safety import judge_command

PIECES = st.sampled_from(
    [
        "rm", "-rf", "/", "x", "ls", "bash -c ", "python -c ", "sudo ", "xargs ", "find . -exec ",
        "git ", "ssh h ", "docker run ", "sed ", "awk ", " ", "\n", "'", '"', "\\", "$", "`", "(",
        ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "!", "*", "?", "~", "#", "=", "$(", "${",
        "$((", "<<X\n", "<<<", "<(", "if ", "then ", "fi", "for x in ", "do ", "done", "case ",
        "esac", "()", "\0", "\u202e", "\ud800", "é", "%", "@", ":", "-",
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=80)))
def test_any_text_gets_a_verdict(text):
    judgement = judge_command(text, "/data/project")
    assert judgement.verdict in ("safe", "ask", "block")
    assert bool(judgement.reason) == (judgement.verdict != "safe")


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 3_000, "(" * 3_001, "x" * 200_000, 'bash -c "' * 51, "`" * 9_001, "'" * 90_001,
        "a(){" * 20_000, ":" * 90_000, "[[ " * 3_000, "<<X " * 3_000, "{a,b}" * 30, "ls;" * 12_000,
        "rm " + "a " * 15_000, "env " * 9_000 + "ls", "find / " + "-exec rm {} \\; " * 2_000,
        "x=aaaaaaaa;" + "x=$x$x;" * 40, "echo " + "$(a)" * 9_000, "f(){ f;f;f; };" * 2_000 + "f",
        "for a in 1 2 3 4 5 6 7 8 9; do " * 6 + "rm x;" + "done;" * 6, "x=" + "a" * 19_000 + ";"
        "rm ${x//a/$x}", "perl -e '" + 'system("ls");' * 3_000 + "'", "\n" * 39_000 + "(",
    ],
)  # fmt: skip
def test_tangled_text_is_asked_about_and_takes_neither_long_nor_much_memory(text):
    began = time.process_time()
    assert judge_command(text, "/data/project").verdict != "safe"
    assert time.process_time() - began < 3


def test_a_megabyte_is_not_even_read():
    began = time.process_time()
    assert judge_command("echo " + "a" * 1_000_000, "/").verdict == "ask"
    assert time.process_time() - began < 0.05
