"""The shell on a host, proven on this machine."""

from __future__ import annotations

import pytest

from tools.environments.backends import backends
from tools.environments.host import HostError
from tools.environments.local_host import LocalHost
from tools.environments.remote import RemoteEnvironment


@pytest.fixture
def shell(tmp_path):
    with RemoteEnvironment("test", LocalHost(), cwd=str(tmp_path)) as environment:
        yield environment


def test_state_stays_from_command_to_command(shell, tmp_path):
    shell.execute("mkdir sub; cd sub; A=1; f() { echo f$A; }; alias g='echo g'")
    assert shell.execute("f; g; pwd").output == f"f1\ng\n{tmp_path}/sub\n"


@pytest.mark.parametrize("ending", ["exit 3", "set -e; (exit 3)", "exec sh -c 'exit 3'"])
def test_state_survives_a_command_that_ends_the_shell(shell, ending):
    shell.execute("A=1; f() { echo f$A; }")
    ended = shell.execute(f"echo before; {ending}; echo after")
    assert (ended.output, ended.exit_code) == ("before\n", 3)
    assert shell.execute("f").output == "f1\n"


def test_timeout_keeps_what_was_printed(shell):
    result = shell.execute("echo begun; sleep 60", timeout=0.3)
    assert (result.exit_code, result.timed_out) == (124, True)
    assert result.output == "begun\n[Command timed out after 0.3s]"
    assert shell.execute("echo next").output == "next\n"


def test_backends_are_found_by_their_files():
    assert "local" in backends()


def test_unknown_program_is_a_host_error():
    with pytest.raises(HostError, match="cannot start"):
        LocalHost().open(["no-such-program"])
