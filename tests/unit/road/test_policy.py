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
