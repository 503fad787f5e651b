import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.road.policy import Policy


def terminal(command):
    return ToolCall(id="1", name="terminal", args={"command": command})


@pytest.mark.parametrize(
    ("rule", "command", "verdict"),
    [
        ("terminal(rm old.log)", "rm old.log", "allow"),
        ("terminal(rm old.log)", "rm other.log", "ask"),
        ("terminal(rm *.tmp)", "rm a.tmp", "allow"),
        ("terminal(rm *.tmp)", "rm a.tmp; rm -r ~ .tmp", "ask"),
        ("terminal(rm *.tmp)", "rm $(cat list).tmp", "ask"),
        ("terminal", "rm anything", "allow"),
        ("term*", "rm anything", "allow"),
        ("write_file", "rm anything", "ask"),
    ],
)
def test_an_allow_rule_covers_what_it_says_and_no_more(rule, command, verdict):
    assert Policy.parse("ask", (rule,), ()).verdict(terminal(command)) == verdict


def test_deny_wins_over_allow_and_mode():
    policy = Policy.parse("off", ("terminal",), ("terminal(rm *)",))
    assert policy.verdict(terminal("rm a; ls")) == "deny"


@pytest.mark.parametrize(("mode", "verdict"), [("ask", "ask"), ("deny", "deny"), ("off", "allow")])
def test_without_a_rule_the_mode_decides(mode, verdict):
    assert Policy.parse(mode, (), ()).verdict(terminal("rm a")) == verdict


def test_a_rule_that_cannot_be_read_names_itself():
    with pytest.raises(ConfigurationError, match="rm a b"):
        Policy.parse("ask", ("rm a b",), ())


@pytest.mark.parametrize("command", ["rm -r /home/me a.tmp", "rm ../a.tmp", "rm a.tmp\nls"])
def test_a_wildcard_in_a_word_covers_no_second_word_and_no_way_up(command):
    assert Policy.parse("ask", ("terminal(rm *.tmp)",), ()).verdict(terminal(command)) == "ask"


def test_a_star_at_the_end_covers_all_words():
    policy = Policy.parse("ask", ("terminal(git push *)",), ())
    assert policy.verdict(terminal("git push origin main")) == "allow"


def test_a_rule_for_a_folder_covers_no_way_out_of_it():
    policy = Policy.parse("ask", ("write_file(/tmp/*)",), ())
    for path, verdict in (("/tmp/a b", "allow"), ("/tmp/../home/me/.bashrc", "ask")):
        call = ToolCall(id="1", name="write_file", args={"path": path})
        assert policy.verdict(call) == verdict


def test_a_rule_for_a_file_does_not_cover_the_other_files_of_a_patch():
    text = "*** Begin Patch\n*** Delete File: b\n*** End Patch"
    call = ToolCall(id="1", name="patch", args={"mode": "patch", "path": "a", "patch": text})
    assert Policy.parse("ask", ("patch(a)",), ()).verdict(call) == "ask"
    assert Policy.parse("off", (), ("patch(b)",)).verdict(call) == "deny"


@pytest.mark.parametrize("command", [" rm x", "/bin/rm x", "true; rm x", "r''m x", "ls && \\rm x"])
def test_other_spellings_of_a_command_are_denied_as_well(command):
    assert Policy.parse("off", (), ("terminal(rm *)",)).denied(terminal(command))


@pytest.mark.parametrize("path", ["keys/a", "./keys/a", "src/../keys/a", "link/a"])
def test_other_spellings_of_a_path_are_denied_as_well(tmp_path, path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "keys")
    call = ToolCall(id="1", name="write_file", args={"path": path})
    assert Policy.parse("off", (), ("write_file(keys/*)",)).denied(call, str(tmp_path))
