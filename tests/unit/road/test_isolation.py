"""Commands that run shut in, as the road treats them."""

import asyncio
from dataclasses import dataclass

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import ApprovalResolved
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tools.environments.host import Isolation
from tools.registry import tool_result
from tools.safety import Objection


@dataclass
class Place:
    isolation: Isolation
    cwd: str = "/"


@pytest.fixture
def run(turn):
    """Run a command in a place; what was decided about it."""

    def guard(args, **_):
        command = args["command"]
        return Objection(
            reason=f"does {command}", shown=command, grant="g", firm=command == "worst"
        )

    parameters = {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    }
    turn.tool(
        "terminal", lambda args, **_: tool_result(ok=1), guard_fn=guard, parameters=parameters
    )

    def decided(command, isolation, policy):
        road = Road(
            tools=turn.registry.view(),
            desk=turn.desk,
            policy=policy,
            emit=turn.emit,
            context={"cwd": str(turn.folder), "environment": Place(isolation)},
        )
        asyncio.run(road.run(ToolCall(id="1", name="terminal", args={"command": command})))
        (resolved,) = turn.of(ApprovalResolved)
        return resolved.decision, resolved.by

    return decided


SHUT_IN = Isolation(isolated=True)
TRUSTING = Policy(trusts_isolation=True)


def test_a_person_is_not_asked_about_what_runs_shut_in(run):
    assert run("rm -r x", SHUT_IN, TRUSTING) == ("once", "isolation")


def test_a_folder_of_this_machine_in_the_container_means_asking(run):
    mounted = Isolation(isolated=True, host_paths=("/home/me",))
    assert run("rm -r x", mounted, TRUSTING)[1] != "isolation"


def test_without_the_users_word_isolation_means_nothing(run):
    assert run("rm -r x", SHUT_IN, Policy())[1] != "isolation"


def test_what_is_always_asked_is_asked_there_too(run):
    assert run("worst", SHUT_IN, TRUSTING)[1] != "isolation"


def test_a_rule_that_denies_holds_there_too(run):
    policy = Policy.parse("ask", deny=["terminal(rm *)"])
    assert run("rm -r x", SHUT_IN, policy) == ("deny", "rule")
