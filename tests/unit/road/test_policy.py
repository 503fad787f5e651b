from collections import namedtuple
from dataclasses import replace

import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.road.policy import Policy
from tools.environments.host import Isolation

Told = namedtuple("Told", "kind targets", defaults=((),))


@pytest.mark.parametrize(
    ("mode", "verdict"),
    [("ask", "ask"), ("deny", "deny"), ("off", "allow"), ("edits", "ask"), ("plan", "ask"),
     ("auto", "ask")],
)  # fmt: skip
def test_without_a_rule_the_mode_decides(case, mode, verdict):
    assert Policy.parse(mode).by_mode(case(command="rm a")) == verdict


def test_a_rule_that_cannot_be_read_names_itself():
    with pytest.raises(ConfigurationError, match="rm a b"):
        Policy.parse("ask", (), (), ("rm a b",))


@pytest.mark.parametrize(
    ("tool", "args", "passes"),
    [
        ("write_file", {"path": "src/a.py"}, True),
        ("patch", {"path": "src/a.py"}, True),
        ("write_file", {"path": "/etc/hosts"}, False),
        ("write_file", {"path": "../other/a.py"}, False),
        ("write_file", {"path": "out/a.py"}, False),
        ("write_file", {"path": ".git/hooks/pre-commit"}, False),
        ("patch", {"patch": "*** Begin Patch\n*** Delete File: src/a.py\n*** End Patch"}, False),
        ("patch", {"patch": "*** Begin Patch\n*** Update File: src/a.py\n*** End Patch"}, True),
        ("terminal", {"command": "sed -i s/a/b/ src/a.py"}, False),
        ("mine", {"path": "src/a.py"}, False),
    ],
)
def test_edits_passes_only_edits_of_files_in_the_workspace(case, tmp_path, tool, args, passes):
    (tmp_path / "out").symlink_to("/var/tmp")
    verdict = Policy.parse("edits").by_mode(case(tool, **args))
    assert verdict == ("allow" if passes else "ask")


def test_the_workspace_reaches_up_to_the_top_of_the_repository(case, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    edit = case("write_file", folder=folder, workspace=tmp_path, path="../src/a.py")
    assert Policy.parse("edits").by_mode(edit) == "allow"


@pytest.mark.parametrize(
    ("effects", "judged"),
    [
        ((Told("delete", ("build/a",)),), True),
        ((Told("execute", ("node",)),), True),
        ((), False),
        ((Told("delete", ("/srv/a",)),), False),
        ((Told("delete", ("",)),), False),
        ((Told("network_out", ("example.org",)),), False),
        ((Told("privilege"),), False),
        ((Told("persistence", ("~/.bashrc",)),), False),
        ((Told("delete", ("build/a",)), Told("secrets", (".env",))), False),
    ],
)
def test_a_judge_is_only_asked_about_medium_risk(case, effects, judged):
    asked = case(command="x", effects=effects)
    assert Policy.parse("auto").may_be_judged(asked) == judged
    assert not Policy.parse("ask").may_be_judged(asked)


@pytest.mark.parametrize(
    ("isolation", "name", "mode", "loose"),
    [
        (Isolation(isolated=True), "terminal", "ask", True),
        (Isolation(isolated=True), "process", "auto", True),
        (Isolation(isolated=True), "terminal", "deny", False),
        (Isolation(isolated=True), "write_file", "ask", False),
        (Isolation(isolated=True, host_paths=("/home/me",)), "terminal", "ask", False),
        (Isolation(isolated=False), "terminal", "ask", False),
    ],
)
def test_only_commands_that_are_shut_in_run_unasked(case, isolation, name, mode, loose):
    trusting = replace(Policy.parse(mode), trusts_isolation=True)
    made = case(name, command="rm a")
    assert trusting.lets_loose(made, isolation) == loose
    assert not Policy.parse(mode).lets_loose(made, isolation)
