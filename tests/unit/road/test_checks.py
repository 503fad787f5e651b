"""Hooks of plugins and the scanner, on the road of a call."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import ApprovalRequested
from hermes_jupyter.hooks import Hooks
from hermes_jupyter.road.checks import Checks
from hermes_jupyter.road.policy import Policy
from tools.safety import Objection
from tools.safety.scanner import Finding

COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}}


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture
def scanned() -> list[str]:
    """The commands that the scanner has looked at; it warns of all that name ``bad``."""
    return []


@pytest.fixture
def run(turn, hooks, scanned):
    """Take a call of ``tool``, or of ``shell`` if there is a command, down the road."""
    turn.tool("tool", lambda args, **_: "ran", parameters={"type": "object"})
    turn.tool("shell", lambda args, **_: "ran", parameters=COMMAND)
    turn.tool(
        "worst",
        lambda args, **_: "ran",
        parameters=COMMAND,
        guard_fn=lambda args, **_: Objection("erases all", "x", "x", forbidden=True),
    )

    def scan(command: str, cwd: str) -> Finding | None:
        scanned.append(command)
        return Finding("is blocked by tirith: bad") if "bad" in command else None

    checks = Checks(hooks=hooks, scan=scan)

    def run_call(name: str = "tool", road=None, **args: object):
        road = road or replace(turn.road(session_id="s", turn_id="t", task_id="k"), checks=checks)
        return asyncio.run(road.run(ToolCall(id="c1", name=name, args=args)))

    return run_call


def asked(turn) -> list[str]:
    return [event.request.reason for event in turn.of(ApprovalRequested)]


def test_a_hook_hears_of_the_call_as_in_hermes_agent(run, hooks):
    heard = []
    hooks.register("pre_tool_call", lambda **about: heard.append(about))
    assert run(a=1).status == "ok"
    assert heard == [
        {
            "tool_name": "tool",
            "args": {"a": 1},
            "task_id": "k",
            "session_id": "s",
            "tool_call_id": "c1",
            "turn_id": "t",
        }
    ]


def test_a_hook_that_blocks_ends_the_call_and_nobody_is_asked(turn, run, hooks):
    turn.decision = "once"
    hooks.register("pre_tool_call", lambda **_: {"action": "block", "message": "not on Fridays"})
    result = run()
    assert result.status == "denied"
    assert "not on Fridays" in json.loads(result.text)["error"]
    assert not asked(turn)


@pytest.mark.parametrize(("decision", "status"), [("once", "ok"), ("deny", "denied")])
def test_a_hook_that_wants_an_approval_has_a_person_asked(turn, run, hooks, decision, status):
    turn.decision = decision
    said = {"action": "approve", "message": "sends mail", "rule_key": "mail"}
    hooks.register("pre_tool_call", lambda **_: said)
    assert run().status == status
    assert asked(turn) == ["needs an approval for a plugin (sends mail)"]


@pytest.mark.parametrize(
    "hook",
    [
        lambda **_: 1 / 0,
        lambda **_: {"action": "allow"},
        lambda **_: True,
        lambda **_: {},
        lambda tool_name: None,
    ],
)
def test_a_hook_that_fails_or_answers_oddly_means_ask(turn, run, hooks, hook):
    hooks.register("pre_tool_call", hook)
    assert run().status == "denied"
    assert len(asked(turn)) == 1


def test_an_async_hook_is_awaited(turn, run, hooks):
    async def hook(**_):
        await asyncio.sleep(0)
        return {"action": "block", "message": "not on Fridays"}

    hooks.register("pre_tool_call", hook)
    assert run().status == "denied"
    assert asked(turn) == []


async def waits(**_):
    await asyncio.sleep(30)


@pytest.mark.parametrize("hook", [waits, lambda **_: threading.Event().wait(1)])
def test_a_hook_that_takes_too_long_means_ask_each_time(turn, run, hooks, hook):
    hooks.timeout = lambda: 0.02
    hooks.register("pre_tool_call", hook)
    assert [run(a=n).status for n in range(5)] == ["denied"] * 5
    assert len(asked(turn)) == 5
    assert "took longer than 0.02 s" in asked(turn)[0]


def test_a_hook_cannot_change_what_runs(turn, run, hooks):
    def meddle(args, **_):
        args["a"].append(2)

    got = []
    turn.tool("keep", lambda args, **_: got.append(args) or "ran", parameters={"type": "object"})
    hooks.register("pre_tool_call", meddle)
    run("keep", a=[1])
    assert got == [{"a": [1]}]


def test_the_strictest_hook_wins_and_each_is_called_once(turn, run, hooks):
    calls = []
    turn.decision = "once"
    hooks.register("pre_tool_call", lambda **_: calls.append(1) or {"action": "approve"})
    hooks.register("pre_tool_call", lambda **_: None)
    assert run().status == "ok"
    assert calls == [1]
    hooks.register("pre_tool_call", lambda **_: {"action": "block", "message": "no"})
    assert run(b=1).status == "denied"


def test_neither_rule_nor_mode_allows_what_they_object_to(turn, run, hooks):
    hooks.register("pre_tool_call", lambda **_: {"action": "approve", "message": "mail"})
    turn.policy = Policy.parse("edits", ("tool", "shell"), ())
    assert run().status == "denied"
    assert run("shell", command="bad").status == "denied"
    assert len(asked(turn)) == 2
    assert not any(event.request.rule for event in turn.of(ApprovalRequested))


def test_approvals_that_are_off_are_off_but_for_what_is_blocked(turn, run, hooks):
    turn.policy = Policy.parse("off", (), ())
    assert run("shell", command="bad").status == "ok"
    hooks.register("pre_tool_call", lambda **_: {"action": "block", "message": "no"})
    assert run("shell", command="bad again").status == "denied"


def test_a_hook_that_is_taken_away_is_not_called(run, hooks):
    def hook(**_):
        return {"action": "block"}

    hooks.register("pre_tool_call", hook)
    hooks.unregister(hook)
    assert run().status == "ok"
    with pytest.raises(ValueError, match="no hook 'on_tuesday'"):
        hooks.register("on_tuesday", hook)


@pytest.mark.parametrize(
    ("decision", "status"), [("once", "ok"), ("session", "ok"), ("deny", "denied")]
)
def test_what_the_scanner_finds_is_asked(turn, run, scanned, decision, status):
    turn.decision = decision
    assert run("shell", command="bad").status == status
    assert asked(turn) == ["is blocked by tirith: bad"]
    assert scanned == ["bad"]


def test_what_it_finds_is_told_beside_the_guards_reason(turn, run):
    turn.tool(
        "guarded",
        lambda args, **_: "ran",
        parameters=COMMAND,
        guard_fn=lambda args, **_: Objection("deletes a", "rm a", "this"),
    )
    run("guarded", command="bad")
    assert asked(turn) == ["deletes a; is blocked by tirith: bad"]


def test_it_is_asked_about_commands_that_may_run_and_once_for_each(run, scanned):
    run("worst", command="bad")
    run("tool", a="bad")
    assert scanned == []
    run("shell", command="fine")
    run("shell", command="fine")
    assert scanned == ["fine"]


def test_without_them_a_call_takes_no_trip(turn):
    turn.tool("plain", lambda args, **_: "ran", parameters=COMMAND)
    entry = turn.registry.get_entry("plain")
    assert not Checks().look_at(entry)
    assert Checks(scan=lambda command, cwd: None).look_at(entry)
