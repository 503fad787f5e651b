"""Shell text as values: what its commands get."""

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.safety import judge_command
from tools.safety.shell import Unreadable, reading
from tools.safety.shell.plain import plain_program
from tools.safety.shell.reading import read_program
from tools.safety.shell.runner import commands_of
from tools.safety.shell.second_opinion import read_by_shfmt
from tools.safety.shell.tree import parsed

HAS_SHFMT = bool(shutil.which("shfmt")) or (Path(sys.executable).parent / "shfmt").exists()


def words_of(text):
    return [[word.text for word in command.words] for command in commands_of(text)]


def test_words_keep_what_quotes_mean():
    (command,) = commands_of("""echo a'b c'"d \\" $e" $'x\\ty' 2>&1 >out""")
    assert [word.text for word in command.words] == ["echo", 'ab cd " $e', "x\ty"]
    assert [(each.operator, each.target.text) for each in command.redirections] == [
        (">&", "1"),
        (">", "out"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x=rm; $x a", ["rm", "a"]),
        ("x=r; x+=m; $x a", ["rm", "a"]),
        ('x="rm -r"; $x a', ["rm", "-r", "a"]),
        ("rm${IFS}-r${IFS}a", ["rm", "-r", "a"]),
        ("IFS=,; x=rm,a; $x", ["rm", "a"]),
        ("a=(rm -r x); ${a[@]}", ["rm", "-r", "x"]),
        ("set -- a b; rm $2", ["rm", "b"]),
        ("rm {a,b}{1..2}", ["rm", "a1", "a2", "b1", "b2"]),
        ("p=/tmp/x; rm ${p%/*}", ["rm", "/tmp"]),
        ("rm ${unset:-a}", ["rm", "a"]),
        ("$(printf 'r%s' m) a", ["rm", "a"]),
        ("r\\\nm a", ["rm", "a"]),
        ("alias x='rm -r'; x a", ["rm", "-r", "a"]),
        ("f() { rm $1; }; f a", ["rm", "a"]),
        ("eval 'x=a'; rm $x", ["rm", "a"]),
        ("echo a | while read x; do rm $x; done", ["rm", "a"]),
        ("for x in a; do rm $x; done", ["rm", "a"]),
        ("cat <<X | xargs\n`rm a`\nX", ["rm", "a"]),
        ("time (rm a)", ["rm", "a"]),
        ('echo "${x:-`rm a`}"', ["rm", "a"]),
    ],
)
def test_a_command_is_found_with_the_words_it_would_get(text, words):
    assert words in words_of(text)


def test_what_may_not_have_run_is_not_certain():
    *_, last = commands_of("x=ls; if true; then x=rm; fi; $x a")
    assert last.words[0].computed


@pytest.mark.parametrize("text", ["echo $(ls", "echo 'abc", "if true; then", "cat <<X\nabc"])
def test_unbalanced_text_is_unreadable(text):
    with pytest.raises(Unreadable):
        commands_of(text)


PIECES = st.sampled_from(
    ["ls", "-a", " ", "|", "&&", "||", ";", "\n", "'a b'", '"c"', "x=1", "if", "~", "*", "export"]
)


@given(st.lists(PIECES, max_size=9).map("".join))
def test_the_quick_way_reads_as_the_parser_does(text):
    quick = plain_program(text)
    if quick is not None:
        program, understood = parsed(text)
        # An equals sign behind a name that is none confuses the parser, not the quick way.
        assert not understood or program == quick


@pytest.mark.skipif(not HAS_SHFMT, reason="shfmt is not installed")
@pytest.mark.parametrize(
    "text",
    [
        "cat <<A <<'B'\none\nA\n$(rm x)\nB",
        "jq . 2>/dev/null <<< '{}'",
        "ls !(a|b)",
        "exec 3<>f",
    ],
)
def test_a_second_parser_reads_what_the_first_does_not(text):
    assert not parsed(text)[1]
    assert read_by_shfmt(text) is not None
    assert commands_of(text)


LINES = st.sampled_from([
    "ls", "for f in a", "do", "done", 'rm "$f"', "if true", "then", "fi", 'echo "', "rm -rf /", '"',
    "'", "{", "}", "(", ")", "f() {", "f()", "case x in", "a) rm x;;", "esac", "while read l",
    "x=$(",
    "a=(", "b", "cat \\", "echo a &&", "echo b |", "sh", "`", "# x", "[[ -f a", "]]", "((", "))",
    "for f in *; do wc $f; done", "function g", "time", "!", "${x", "x=1", 'trap "', "<(", "{ echo",
])  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(st.lists(LINES, min_size=1, max_size=4))
def test_equal_lines_that_are_read_once_mean_what_they_mean_together(lines):
    text = "\n".join(lines * 8)
    read_program.cache_clear()
    by_lines = judge_command(text, "/data/project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_by_lines", lambda text: None)
        read_program.cache_clear()
        assert judge_command(text, "/data/project").verdict == by_lines.verdict
    read_program.cache_clear()
