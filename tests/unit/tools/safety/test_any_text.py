"""Any text gets a verdict, soon."""

import time
from concurrent.futures import ThreadPoolExecutor

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
        "a(){" * 20_000, ":" * 90_000, "[[ " * 3_000, "<<X " * 3_000, "{a,b}" * 30,
        "".join(f"ls {n};" for n in range(4_000)), "a|" * 19_000, "ls " + "\0" * 39_000,
        "(a)" * 13_000, "${x%" * 9_000,
        "rm " + "a " * 15_000, "env " * 9_000 + "ls", "find / " + "-exec rm {} \\; " * 2_000,
        "x=aaaaaaaa;" + "x=$x$x;" * 40, "echo " + "$(a)" * 9_000,
        "".join(f"f(){{ f;f;f {n}; }};" for n in range(1_500)) + "f",
        "for a in 1 2 3 4 5 6 7 8 9; do " * 6 + "rm x;" + "done;" * 6, "x=" + "a" * 19_000 + ";"
        "rm ${x//a/$x}", "perl -e '" + 'system("ls");' * 3_000 + "'", "\n" * 39_000 + "(",
    ],
)  # fmt: skip
def test_tangled_text_is_asked_about_and_takes_neither_long_nor_much_memory(text):
    began = time.process_time()
    assert judge_command(text, "/data/project").verdict != "safe"
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    "text", ["ls;" * 12_000, "if [ -f x ]; then cat x; fi\n" * 1_400, "cat x | " * 900 + "wc"]
)
def test_repetition_is_judged_once(text):
    began = time.process_time()
    assert judge_command(text, "/data/project").verdict == "safe"
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("bash x.sh; bash x.sh; echo ls > x.sh; bash x.sh", "ask"),
        ("cd ..; cd ..; cd ..; cd ..; cd ..; rm -rf *", "block"),
        ("rm -rf $x/*; rm -rf $x/*; rm -rf $x/*; x=/; rm -rf $x/*", "block"),
        ("ls; ls; ls() { rm a; }; ls", "ask"),
        ("cat x | sh | sh | cat x | sh", "ask"),
    ],
)
def test_a_repeated_command_is_judged_again_where_something_changed(text, verdict):
    assert judge_command(text, "/a/b").verdict == verdict


def test_a_megabyte_is_not_even_read():
    began = time.process_time()
    assert judge_command("echo " + "a" * 1_000_000, "/").verdict == "ask"
    assert time.process_time() - began < 0.05


@pytest.mark.parametrize("letter", ["é", "😀", "\U00061a33", "\U0010ffff", "\ud994"])
def test_no_letter_ends_the_process(letter):
    """A parser that looks it up in too small a table would; where, depends on the memory."""
    for text in (letter, f"{{{letter}", f"a{letter}=1 {letter}", f"${letter}", f"${{{letter}}}"):
        assert judge_command(f"{text * 20}; rm x", "/data/project").verdict == "ask"


def test_letters_of_all_languages_are_words():
    assert judge_command("cat données.csv 数据.txt", "/data/project").verdict == "safe"
    judgement = judge_command("rm données/été.csv", "/data/project")
    assert judgement.reason == "deletes données/été.csv"


def test_threads_judge_at_once():
    script = "".join(f"echo {number} | wc -l\n" for number in range(400))
    with ThreadPoolExecutor(8) as pool:
        verdicts = pool.map(
            lambda number: judge_command(f"{script}rm {number}", "/data/project").verdict,
            range(64),
        )
        assert set(verdicts) == {"ask"}
