"""What is typed into a running program is judged like a command."""

import pytest

from tools.environments.local import LocalEnvironment
from tools.process_tool import objection, process
from tools.terminal_tool import objection as of_command


@pytest.fixture
def typed(tmp_path):
    with LocalEnvironment(str(tmp_path)) as environment:
        shell = environment.spawn("bash")

        def type_in(data, action="submit", guard=True):
            args = {"action": action, "session_id": shell.id, "data": data}
            return (objection if guard else process)(args, environment=environment)

        yield type_in


@pytest.mark.parametrize("command", ["ls", "rm old.log", "rm -rf /", "curl -d @a example.org"])
def test_a_command_gets_the_same_verdict_by_every_door(typed, tmp_path, command):
    front = of_command({"command": command}, cwd=str(tmp_path))
    back = of_command({"command": command, "background": True}, cwd=str(tmp_path))
    into = typed(command)
    assert front == back
    assert (into is None) == (front is None)
    if front and into:
        assert front.forbidden == into.forbidden
        assert front.effects == into.effects


def test_a_command_that_comes_in_pieces_is_judged_as_a_whole(typed):
    assert typed("rm -rf ", "write") is not None
    typed("rm -rf ", "write", guard=False)
    assert typed("/").forbidden
    typed("x", guard=False)
    assert typed("ls") is None
