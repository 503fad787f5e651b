"""What the gate lets through, seen from the road."""

import asyncio
import json
import sys
import threading
from collections import namedtuple
from dataclasses import dataclass

import pytest

from hermes_jupyter.calls import Ruling, ToolCall
from hermes_jupyter.events import ApprovalRequested, ApprovalResolved, NoticeGiven
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.grants import Grants
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from hermes_jupyter.store.standing import StandingRules
from tools.safety import Objection

Told = namedtuple("Told", "kind targets", defaults=((),))


@dataclass(frozen=True)
class Telling(Objection):
    effects: tuple = ()


def objection(*effects, shown="x", **about):
    return Telling(reason=f"does {shown}", shown=shown, grant="this", effects=effects, **about)


COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
DELETES = {"rm a": "a", "rm b": "b", "unlink a": "a", "rm  'a'": "a"}


@pytest.fixture
def ran(turn):
    """A shell that deletes what `DELETES` says and blocks ``halt``; the list tells what it ran."""
    done = []

    def guard(args, **_):
        command = args["command"]
        if command == "halt":
            return objection(shown=command, forbidden=True)
        gone = DELETES.get(command)
        return objection(Told("delete", (gone,)), shown=command) if gone else None

    def run(args, **_):
        done.append(args["command"])
        return json.dumps({"output": "", "exit_code": 0})

    turn.tool("shell", run, guard_fn=guard, parameters=COMMAND)
    return done


def shell(turn, command, **road):
    call = ToolCall(id="1", name="shell", args={"command": command})
    return asyncio.run(road_of(turn, **road).run(call))


def road_of(turn, **more):
    return Road(
        tools=turn.registry.view(),
        desk=turn.desk,
        policy=turn.policy,
        emit=turn.emit,
        context={"cwd": str(turn.folder)},
        **more,
    )


def told(turn):
    return [(event.decision, event.by) for event in turn.of(ApprovalResolved)]


def test_a_denied_command_is_refused_at_once_in_other_words(turn, ran):
    answers = [json.loads(shell(turn, each).text) for each in ("rm a", "unlink a", "rm  'a'")]
    assert [answer["status"] for answer in answers] == ["denied"] * 3
    assert "earlier in this turn" in answers[1]["error"]
    assert len(turn.of(ApprovalRequested)) == 1
    assert ran == []


def test_another_turn_may_ask_again(turn, ran):
    shell(turn, "rm a")

    async def next_turn():
        with turn.desk.turn(turn.emit):
            turn.decision = "once"
            return await road_of(turn).run(ToolCall(id="2", name="shell", args={"command": "rm a"}))

    assert asyncio.run(next_turn()).status == "ok"


def test_a_rule_does_not_allow_what_a_person_has_just_denied(turn, ran):
    shell(turn, "rm a")
    turn.policy = Policy.parse("off", ("shell",))
    assert shell(turn, "unlink a").status == "denied"
    assert ran == []


def test_a_denial_with_a_note_tells_the_model_what_to_do(turn, ran):
    turn.decision = Ruling(decision="deny", note="keep it, delete b")
    answer = json.loads(shell(turn, "rm a").text)
    assert "keep it, delete b" in answer["error"]
    turn.decision = "once"
    assert shell(turn, "rm b").status == "ok"


def test_silence_is_told_as_silence(turn, ran):
    turn.desk.answer = lambda *a, **k: False
    answer = json.loads(shell(turn, "rm a", approval_timeout=0.02).text)
    assert (answer["status"], answer["denied_by"]) == ("timed_out", "silence")
    assert told(turn) == [("deny", "timeout")]
    assert json.loads(shell(turn, "unlink a", approval_timeout=0.02).text)["denied_by"] == "user"


def test_an_edited_command_runs_as_the_person_wrote_it_and_the_model_hears_of_it(turn, ran):
    turn.decision = Ruling(decision="once", edited="rm b", note="not a")
    result = shell(turn, "rm a")
    assert (result.status, ran) == ("ok", ["rm b"])
    assert (result.call.args, result.args) == ({"command": "rm a"}, {"command": "rm b"})
    answer = json.loads(result.text)
    assert "rm b" in answer["user_edited"]
    assert answer["user_note"] == "not a"
    assert len(turn.of(ApprovalRequested)) == 1


def test_an_edit_may_not_do_what_nobody_may(turn, ran):
    turn.decision = Ruling(decision="once", edited="halt")
    assert shell(turn, "rm a").status == "denied"
    turn.decision = Ruling(decision="once", edited="rm b")
    turn.policy = Policy.parse("ask", (), ("shell(rm b)",))
    assert shell(turn, "rm a").status == "denied"
    assert ran == []


def test_an_edit_is_for_once(turn, ran):
    turn.decision = Ruling(decision="session", edited="rm b")
    shell(turn, "rm a")
    turn.decision = "deny"
    assert shell(turn, "rm b").status == "denied"


def test_a_grant_for_the_session_covers_the_same_command_in_other_blanks(turn, ran):
    turn.decision = "session"
    shell(turn, "rm a")
    turn.decision = "deny"
    assert [shell(turn, each).status for each in ("rm  'a'", "unlink a")] == ["ok", "denied"]
    assert ran == ["rm a", "rm  'a'"]


def test_two_sessions_do_not_share_grants(turn, ran):
    turn.decision = "session"
    shell(turn, "rm a")
    turn.desk, turn.decision = ApprovalDesk(), "deny"
    assert shell(turn, "rm a").status == "denied"


def with_rules(turn, tmp_path):
    turn.desk = ApprovalDesk(Grants(StandingRules(tmp_path)))


def test_always_survives_a_restart_and_covers_only_its_rule(turn, ran, tmp_path):
    with_rules(turn, tmp_path)
    turn.decision = "always"
    shell(turn, "rm a")
    assert turn.of(ApprovalRequested)[0].request.rule == "shell(rm a)"
    with_rules(turn, tmp_path)
    turn.decision = "deny"
    assert [shell(turn, each).status for each in ("rm a", "rm b")] == ["ok", "denied"]
    assert told(turn)[-2:] == [("always", "grant"), ("deny", "widget")]


def test_always_is_not_offered_for_high_risk(turn, tmp_path):
    with_rules(turn, tmp_path)
    guard = lambda args, **_: objection(Told("network_out", ("example.org",)))  # noqa: E731
    turn.tool("send", lambda args, **_: "sent", guard_fn=guard)
    asyncio.run(road_of(turn).run(ToolCall(id="1", name="send")))
    assert turn.of(ApprovalRequested)[0].request.rule == ""


def test_a_rule_that_cannot_be_kept_holds_for_the_session_and_says_so(turn, ran, tmp_path):
    (tmp_path / "jupyter").write_text("in the way")
    with_rules(turn, tmp_path)
    turn.decision = "always"
    assert shell(turn, "rm a").status == "ok"
    turn.decision = "deny"
    assert shell(turn, "rm a").status == "ok"
    assert "could not be kept" in turn.of(NoticeGiven)[0].text


@pytest.mark.parametrize("tool", ["plain", "reader"])
def test_plan_mode_runs_nothing_that_may_change_something(turn, tool):
    turn.tool("plain", lambda args, **_: "ran")
    turn.tool("reader", lambda args, **_: "ran", effects="read")
    turn.policy = Policy.parse("plan", ("plain",))
    result = asyncio.run(road_of(turn).run(ToolCall(id="1", name=tool)))
    assert result.status == ("ok" if tool == "reader" else "denied")
    assert ("your plan" in result.text) == (tool == "plain")


def test_a_tool_that_cannot_tell_whether_it_reads_does_not_run_in_plan_mode(turn):
    turn.tool("odd", lambda args, **_: "ran", reads_only=lambda args, **_: 1 / 0)
    turn.policy = Policy.parse("plan")
    assert asyncio.run(road_of(turn).run(ToolCall(id="1", name="odd"))).status == "denied"


def test_off_runs_everything_but_what_nobody_may(turn, ran):
    turn.policy = Policy.parse("off", (), ("shell(rm b)",))
    assert [shell(turn, each).status for each in ("rm a", "rm b", "halt")] == [
        "ok", "denied", "denied",
    ]  # fmt: skip
    assert told(turn) == [("once", "mode"), ("deny", "rule"), ("deny", "safety")]


def test_a_rule_that_asks_wins_over_one_that_allows_and_over_the_mode(turn, ran):
    turn.policy = Policy.parse("off", ("shell",), (), ("shell(ls*)", "effect:delete"))
    turn.decision = "once"
    assert [shell(turn, each).status for each in ("ls", "rm a", "pwd")] == ["ok"] * 3
    reasons = [event.request.reason for event in turn.of(ApprovalRequested)]
    assert reasons == ["falls under a rule of yours: shell(ls*)", "does rm a"]


class Verdict:
    def __init__(self, said):
        self.said, self.requests = said, []

    async def judge(self, request):
        self.requests.append(request)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize(
    ("said", "asked"), [("allow", 0), ("ask", 1), (RuntimeError("broken"), 1), ("ALLOW", 1)]
)
def test_in_auto_mode_a_judge_may_save_the_question(turn, ran, said, asked):
    turn.policy, judge = Policy.parse("auto"), Verdict(said)
    shell(turn, "rm a", judge=judge)
    assert len(turn.of(ApprovalRequested)) == asked
    assert len(judge.requests) == 1
    assert ran == ["rm a"] * (1 - asked)


def test_no_judge_is_asked_about_high_risk_or_what_was_denied(turn, ran, tmp_path):
    turn.policy, judge = Policy.parse("auto"), Verdict("allow")
    DELETES["rm /srv/x"] = "/srv/x"
    turn.tool("odd", lambda args, **_: "ran", guard_fn=lambda args, **_: "does something")
    shell(turn, "rm /srv/x", judge=judge)
    asyncio.run(road_of(turn, judge=judge).run(ToolCall(id="1", name="odd")))
    shell(turn, "halt", judge=judge)
    assert judge.requests == []
    assert ran == []


def test_a_request_says_what_for_and_what_may_be_edited(turn, ran):
    shell(turn, "rm a", purpose=lambda: "I tidy up.\n\nFirst the old file.")
    request = turn.of(ApprovalRequested)[0].request
    assert request.purpose == "I tidy up. First the old file."
    assert request.editable == "command"
    assert request.effects == ("does rm a",)


def test_two_questions_of_one_batch_are_answered_apart(turn, ran):
    async def both():
        road = road_of(turn)
        turn.decide_by = {"rm a": "deny", "rm b": "once"}
        calls = [ToolCall(id=c, name="shell", args={"command": c}) for c in ("rm a", "rm b")]
        return await asyncio.gather(*map(road.run, calls))

    def emit(event, told=turn.emit):
        if isinstance(event, ApprovalRequested):
            turn.decision = "deny" if event.request.shown == "rm a" else "once"
            request, decision = event.request, turn.decision
            asyncio.get_running_loop().call_soon(
                lambda: turn.desk.answer(request.id, decision, by="widget", digest=request.digest)
            )
            turn.events.append(event)
        else:
            told(event)

    turn.emit = emit
    results = asyncio.run(both())
    assert [result.status for result in results] == ["denied", "ok"]


class Thinking(list):
    """A tool gets ready, and only then a person answers; the list tells in what order."""

    def __init__(self, turn, decision, prepare=lambda: None):
        super().__init__()
        self._is_ready = threading.Event()

        def ready(args, **context):
            self.append(("ready", args, sorted({"cwd", "tools"} & set(context))))
            self._is_ready.set()
            prepare()

        def emit(event):
            turn.events.append(event)
            if isinstance(event, ApprovalRequested):
                threading.Thread(target=answer, args=(event.request,)).start()

        def answer(request):
            assert self._is_ready.wait(10)
            turn.desk.answer(request.id, decision, by="widget", digest=request.digest)

        def handler(args, **_):
            self.append("ran")
            return "{}"

        turn.emit = emit
        turn.tool(
            "shell", handler, guard_fn=lambda args, **_: objection(), prepare_fn=ready,
            parameters=COMMAND,
        )  # fmt: skip


READY = ("ready", {"command": "rm a"}, ["cwd", "tools"])


@pytest.mark.parametrize(("decision", "ran"), [("once", ["ran"]), ("deny", [])])
def test_a_tool_gets_ready_while_a_person_thinks(turn, decision, ran):
    thought = Thinking(turn, decision)
    shell(turn, "rm a")
    assert thought == [READY, *ran]


def test_a_tool_that_cannot_get_ready_runs_all_the_same(turn):
    thought = Thinking(turn, "once", prepare=lambda: sys.exit("no"))
    assert shell(turn, "rm a").status == "ok"
    assert thought == [READY, "ran"]


def test_where_nobody_is_asked_nothing_gets_ready(turn):
    thought = Thinking(turn, "once")
    turn.policy = Policy.parse("off", ())
    shell(turn, "rm a")
    assert thought == ["ran"]


def test_where_all_is_denied_at_once_nothing_gets_ready(turn):
    emit = turn.emit  # answers at once
    thought = Thinking(turn, "deny")
    turn.emit = emit
    road = road_of(turn)

    async def denied():
        result = await road.run(ToolCall(id="1", name="shell", args={"command": "rm a"}))
        await asyncio.gather(
            *asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True
        )
        return result.status

    assert asyncio.run(denied()) == "denied"
    assert thought == []
