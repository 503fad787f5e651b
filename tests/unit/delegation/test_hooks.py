"""What hooks hear of agents that work for the agent."""

from __future__ import annotations

import asyncio

from delegating import delegating

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation


def test_hooks_hear_when_an_agent_begins_and_how_it_ended(open_desk):
    desk = open_desk(conversation("^count", "There are 3."), delegating("count"))
    heard = []
    for name in ("subagent_start", "subagent_stop"):
        desk.hermes.hooks.on(name, heard.append)
    desk.run()
    began, ended = heard
    (report,) = desk.results
    assert began.child_session_id == ended.child_session_id == report["session_id"]
    assert (began.session_id, began.child_goal, began.model) == ("main", "count", "scripted")
    assert (ended.child_status, ended.child_summary) == ("completed", "There are 3.")
    assert ended.duration_ms >= 0


def test_a_question_of_a_child_is_told_once_and_by_the_child(open_desk):
    desk = open_desk(
        conversation("^tidy", (call("terminal", command="rm old.log"),), "No."), delegating("tidy")
    )
    heard = []
    for name in ("pre_approval_request", "post_approval_response"):
        desk.hermes.hooks.on(name, heard.append)

    async def main():
        await desk.turn()
        await desk.hermes.hooks.settle()

    asyncio.run(main())
    assert [type(each).__name__ for each in heard] == ["PreApprovalRequest", "PostApprovalResponse"]
    (child,) = desk.started
    assert {each.session_id for each in heard} == {f"main/{child.id}"}
