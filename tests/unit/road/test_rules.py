from collections import namedtuple

import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.road.rules import Rule, exact_rule

Told = namedtuple("Told", "kind targets", defaults=((),))

DELETE = (Told("delete", ("old.log",)),)


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("terminal(rm old.log)", "rm old.log", True),
        ("terminal(rm old.log)", "rm other.log", False),
        ("terminal(npm run build)", "npm run build && rm -rf x", False),
        ("terminal(rm *.tmp)", "rm a.tmp", True),
        ("terminal(rm *.tmp)", "rm a.tmp; rm -r ~ .tmp", False),
        ("terminal(rm *.tmp)", "rm $(cat list).tmp", False),
        ("terminal(rm *.tmp)", "rm -r /home/me a.tmp", False),
        ("terminal(rm *.tmp)", "rm ../a.tmp", False),
        ("terminal(rm *.tmp)", "rm a.tmp\nls", False),
        ("terminal(git push *)", "git push origin main", True),
        ("terminal", "rm anything", True),
        ("term*", "rm anything", True),
        ("@terminal", "rm anything", True),
        ("@terminal(rm *)", "rm anything", True),
        ("@file", "rm anything", False),
        ("write_file", "rm anything", False),
    ],
)
def test_an_allow_rule_covers_what_it_says_and_no_more(case, rule, command, covered):
    assert Rule.parse(rule).covers(case(command=command)) == covered


@pytest.mark.parametrize(
    "command",
    [
        " rm x", "/bin/rm x", "true; rm x", "r''m x", "ls && \\rm x", "sudo rm x", "bash -c 'rm x'",
        "echo $(rm x)", "env A=1 rm x", "eval rm x", "nohup bash -c 'true; rm x' &",
    ],
)  # fmt: skip
def test_other_spellings_of_a_command_are_denied_as_well(case, command):
    assert Rule.parse("terminal(rm *)").touches(case(command=command))


def test_what_is_typed_into_a_shell_is_denied_like_a_command(case):
    typed = case("process", action="submit", session_id="p", data="git push --force")
    assert Rule.parse("terminal(git push*)").touches(typed)
    assert not Rule.parse("terminal(git push*)").covers(typed)


@pytest.mark.parametrize(
    "rule", ["write_file(keys/*)", "write_file(path:keys/**)", "@file(path:keys)"]
)
@pytest.mark.parametrize("path", ["keys/a", "./keys/a", "src/../keys/a", "link/a"])
def test_other_spellings_of_a_path_are_denied_as_well(case, tmp_path, rule, path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "keys")
    assert Rule.parse(rule).touches(case("write_file", path=path))


def test_a_command_that_names_a_path_falls_under_a_rule_that_denies_it(case):
    rule = Rule.parse("terminal(path:secrets/**)")
    assert rule.touches(case(command="cat ./secrets/a", objects=False))
    assert not rule.touches(case(command="cat notes/a", objects=False))


@pytest.mark.parametrize(
    ("path", "covered"),
    [("src/a.py", True), ("src/deep/a.py", True), ("src/../a.py", False), ("a.py", False),
     ("/etc/src/a.py", False), ("src/out/a.py", False)],
)  # fmt: skip
def test_a_rule_that_allows_a_folder_covers_no_way_out_of_it(case, tmp_path, path, covered):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "out").symlink_to("/etc")
    assert Rule.parse("write_file(path:src/**)").covers(case("write_file", path=path)) == covered


def test_a_path_rule_allows_a_command_only_if_all_it_does_is_known_to_be_there(case):
    rule = Rule.parse("terminal(path:build/**)")
    assert rule.covers(case(command="rm build/a", effects=(Told("delete", ("build/a",)),)))
    assert not rule.covers(case(command="rm build/a"))
    sends = (Told("delete", ("build/a",)), Told("network_out", ("example.org",)))
    assert not rule.covers(case(command="rm build/a", effects=sends))


def test_a_rule_for_a_file_does_not_cover_the_other_files_of_a_patch(case):
    text = "*** Begin Patch\n*** Delete File: b\n*** End Patch"
    patch = case("patch", mode="patch", path="a", patch=text)
    assert not Rule.parse("patch(a)").covers(patch)
    assert not Rule.parse("patch(path:a)").covers(patch)
    assert Rule.parse("patch(b)").touches(patch)


def test_a_rule_by_effect_denies_whatever_has_it_and_allows_what_has_only_it(case):
    rule = Rule.parse("effect:delete")
    both = (*DELETE, Told("network_out", ("example.org",)))
    assert rule.touches(case(effects=both, command="x"))
    assert not rule.covers(case(effects=both, command="x"))
    assert rule.covers(case(effects=DELETE, command="x"))
    assert not rule.covers(case(command="x"))
    assert Rule.parse("effect:network_*").touches(case(effects=both, command="x"))


@pytest.mark.parametrize("text", ["rm a b", "", "terminal(rm", "@", "effect:", "x(path:)", 7])
def test_a_rule_that_cannot_be_read_names_itself(text):
    with pytest.raises(ConfigurationError, match="no rule"):
        Rule.parse(text)


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("make clean", "terminal(make clean)"),
        ("echo 'a (b)' && rm x", "terminal(echo 'a (b)' && rm x)"),
        ("rm *.tmp", ""),
        ("rm a?", ""),
        ("rm a\nls", ""),
        ("path:x", ""),
    ],
)
def test_the_rule_for_always_covers_this_call_alone(case, command, rule):
    assert exact_rule(case(command=command)) == rule


def test_the_rule_for_always_names_a_file_in_full(case, tmp_path):
    rule = exact_rule(case("write_file", path="a.py", content=""))
    assert rule == f"write_file(path:{tmp_path}/a.py)"
    assert not Rule.parse(rule).covers(case("write_file", path="b.py", content=""))


def test_the_rule_for_always_holds_the_arguments_of_other_tools(case):
    rule = exact_rule(case("pay", amount=5))
    assert Rule.parse(rule).covers(case("pay", amount=5))
    assert not Rule.parse(rule).covers(case("pay", amount=50))
