import asyncio
import json
import threading
import time

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import ApprovalRequested, ApprovalResolved, ToolOutputStreamed
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.running import CallInterrupted
from tools.environments.host import Isolation
from tools.files.local_place import LOCAL
from tools.registry import tool_result
from tools.safety import Objection


def run(turn, name, **args):
    return asyncio.run(turn.road().run(ToolCall(id="1", name=name, args=args)))


@pytest.mark.parametrize(
    ("decision", "status", "gone"),
    [("once", "ok", ["a"]), ("session", "ok", ["a"]), ("deny", "denied", [])],
)
def test_guarded_call_runs_only_when_approved(turn, erased, decision, status, gone):
    turn.decision = decision
    assert run(turn, "erase", path="a").status == status
    assert erased == gone


def test_a_denial_tells_the_model_that_nothing_was_run(turn, erased):
    answer = json.loads(run(turn, "erase", path="a").text)
    assert answer["status"] == "denied"
    assert "was not run" in answer["error"]


def test_session_approval_covers_the_same_call_and_no_other(turn, erased):
    turn.decision = "session"
    run(turn, "erase", path="a")
    turn.decision = "deny"
    assert run(turn, "erase", path="a").status == "ok"
    assert run(turn, "erase", path="b").status == "denied"


def test_a_broken_guard_asks(turn):
    turn.tool("odd", lambda args, **_: "ran", guard_fn=lambda args, **_: 1 / 0)
    assert run(turn, "odd").status == "denied"
    assert "could not be checked" in turn.of(ApprovalRequested)[0].request.reason


def test_a_forbidden_call_is_never_asked_and_never_runs(turn):
    turn.decision = "once"
    objection = Objection(reason="erases the disk", shown="x", grant="", forbidden=True)
    turn.tool("format", lambda args, **_: "ran", guard_fn=lambda args, **_: objection)
    assert run(turn, "format").status == "denied"
    assert not turn.of(ApprovalRequested)


def test_rules_allow_and_deny_without_asking(turn, erased):
    turn.policy = Policy.parse("ask", ("erase(a)",), ("erase(b)",))
    assert run(turn, "erase", path="a").status == "ok"
    assert run(turn, "erase", path="b").status == "denied"
    assert not turn.of(ApprovalRequested)
    told = [(event.decision, event.by, event.note) for event in turn.of(ApprovalResolved)]
    assert told == [("once", "rule", "erase(a)"), ("deny", "rule", "erase(b)")]


def test_an_answer_to_another_folder_does_not_count(turn, erased):
    class Shell:
        cwd, files, isolation = "/one", LOCAL, Isolation(isolated=False)

    shell = Shell()
    road = turn.road(environment=shell)
    turn.decision = "once"
    asked = []

    def move_once(event):
        if isinstance(event, ApprovalRequested):
            asked.append(event.request.cwd)
            shell.cwd = "/two"
        turn.emit(event)

    object.__setattr__(road, "emit", move_once)
    assert asyncio.run(road.run(ToolCall(id="1", name="erase", args={"path": "a"}))).status == "ok"
    assert asked == ["/one", "/two"]


@pytest.mark.parametrize("args", [{}, {"path": 7.5}, {"path": ["a"]}])
def test_wrong_arguments_are_told_to_the_model(turn, erased, args):
    result = run(turn, "erase", **args)
    assert result.status == "error"
    assert "Invalid arguments for erase" in result.text
    assert erased == []


def test_text_numbers_become_numbers(turn):
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    turn.tool("double", lambda args, **_: tool_result(n=args["n"] * 2), parameters=parameters)
    assert json.loads(run(turn, "double", n="21").text) == {"n": 42}


@pytest.mark.parametrize("answer", [None, b"bytes", {"a": 1}, 7])
def test_an_answer_that_is_no_text_is_an_error(turn, answer):
    turn.tool("odd", lambda args, **_: answer)
    result = run(turn, "odd")
    assert result.status == "error"
    assert "instead of text" in result.text


def test_a_handler_that_raises_is_an_error(turn):
    turn.tool("odd", lambda args, **_: 1 / 0)
    assert "ZeroDivisionError" in run(turn, "odd").text


def test_a_tool_that_never_returns_is_left_at_its_deadline(turn):
    stop = threading.Event()
    turn.tool("stuck", lambda args, **_: stop.wait(60) or "late", timeout=0.1)
    began = time.monotonic()
    result = run(turn, "stuck")
    stop.set()
    assert result.status == "timeout"
    assert "did not finish within 0.1 s" in result.text
    assert time.monotonic() - began < 4


def test_a_tool_that_hears_the_deadline_keeps_its_partial_output(turn):
    def patient(args, *, cancelled, **_):
        cancelled.wait(60)
        return "half"

    turn.tool("patient", patient, timeout=0.1)
    answer = json.loads(run(turn, "patient").text)
    assert answer["partial_result"] == "half"


def test_ten_megabytes_are_cut_with_the_count_of_what_is_gone(turn):
    turn.tool("flood", lambda args, **_: "x" * 10_000_000)
    text = run(turn, "flood").text
    assert len(text) < 101_000
    assert "characters left out" in text


def test_a_cut_json_answer_stays_json(turn):
    turn.tool("flood", lambda args, **_: tool_result(output="x" * 1_000_000, exit_code=0))
    assert json.loads(run(turn, "flood").text)["exit_code"] == 0


def test_lone_surrogates_are_replaced(turn):
    turn.tool("odd", lambda args, **_: "a\ud800b")
    run(turn, "odd").text.encode("utf-8")


def test_secrets_are_masked(turn):
    key = "sk-" + "a1B2" * 12
    turn.tool("leak", lambda args, **_: f"the key is {key}")
    assert key not in run(turn, "leak").text


def test_output_of_a_running_tool_is_told_in_order(turn):
    def talk(args, *, on_output, **_):
        for piece in "abc":
            on_output(piece)
        return "done"

    turn.tool("talk", talk)
    run(turn, "talk")
    assert "".join(event.text for event in turn.of(ToolOutputStreamed)) == "abc"


def test_an_interrupt_reaches_the_tool_and_ends_the_wait(turn):
    heard = threading.Event()

    def patient(args, *, cancelled, **_):
        if cancelled.wait(30):
            heard.set()
        return "x"

    turn.tool("patient", patient)

    async def interrupt():
        task = asyncio.create_task(turn.road().run(ToolCall(id="1", name="patient")))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    assert heard.wait(1)


def test_an_interrupt_while_waiting_for_a_person_denies(turn, erased):
    turn.desk.answer = lambda *a, **k: False  # nobody answers

    async def interrupt():
        task = asyncio.create_task(
            turn.road().run(ToolCall(id="1", name="erase", args={"path": "a"}))
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    resolved = turn.of(ApprovalResolved)[0]
    assert (resolved.decision, resolved.by, erased) == ("deny", "interrupt", [])


def test_unknown_tools_do_not_exist_on_the_road(turn):
    assert "Unknown tool" in run(turn, "nothing").text


def test_a_schema_that_is_none_is_an_error_and_ends_nothing(turn):
    turn.tool("odd", lambda args, **_: "ran", parameters={"properties": {"a": {"type": "int"}}})
    assert "schema cannot be used" in run(turn, "odd", a=1).text


def test_a_timeout_that_cannot_be_worked_out_runs_nothing(turn):
    ran = []
    turn.tool("odd", lambda args, **_: ran.append(1) or "ran", timeout=lambda args: float(10**400))
    assert run(turn, "odd").status == "error"
    assert ran == []


def test_a_tool_that_cancels_itself_does_not_interrupt_the_turn(turn):
    async def odd(args, **_):
        asyncio.current_task().cancel()
        await asyncio.sleep(0)

    turn.tool("odd", odd)
    assert "cancelled itself" in run(turn, "odd").text


def test_a_question_on_the_loop_is_an_error_and_no_deadlock(turn):
    async def odd(args, *, ask, **_):
        return str(ask("what?"))

    turn.tool("odd", odd)
    assert "in a thread" in run(turn, "odd").text


def test_what_changed_while_the_question_stood_is_asked_about_again(turn):
    shown = iter(["old", "new", "new"])
    turn.tool("edit", lambda args, **_: "ran", guard_fn=lambda args, **_: Objection(
        reason="edits", shown=next(shown), grant=""))  # fmt: skip
    turn.decision = "once"
    assert run(turn, "edit").status == "ok"
    assert [e.request.shown for e in turn.of(ApprovalRequested)] == ["old", "new"]


def test_what_became_forbidden_while_the_question_stood_is_not_run(turn):
    verdicts = iter([False, True])
    turn.tool("erase", lambda args, **_: "ran", guard_fn=lambda args, **_: Objection(
        reason="erases", shown="x", grant="", forbidden=next(verdicts)))  # fmt: skip
    turn.decision = "once"
    assert run(turn, "erase").status == "denied"


def test_what_nobody_can_read_is_not_asked(turn):
    turn.tool("long", lambda args, **_: "ran", guard_fn=lambda args, **_: "writes")
    turn.decision = "once"
    assert run(turn, "long", text="x" * 200_000).status == "denied"
    assert not turn.of(ApprovalRequested)


def test_the_folder_of_the_objection_is_shown(turn):
    turn.tool("go", lambda args, **_: "ran", guard_fn=lambda args, **_: Objection(
        reason="goes", shown="x", grant="", cwd="/elsewhere"))  # fmt: skip
    run(turn, "go")
    assert turn.of(ApprovalRequested)[0].request.cwd == "/elsewhere"


def test_a_guard_that_takes_long_does_not_hold_up_the_loop(turn):
    async def main():
        going = threading.Event()
        turn.tool(
            "slow", lambda args, **_: "ran", guard_fn=lambda args, **_: going.wait(5) and None
        )
        running = asyncio.create_task(turn.road().run(ToolCall(id="1", name="slow")))
        await asyncio.sleep(0)
        going.set()  # never reached if the guard blocked the loop
        return await running

    began = time.monotonic()
    assert asyncio.run(main()).text == "ran"
    assert time.monotonic() - began < 4


def test_waiting_for_a_person_does_not_count_as_run_time(turn, erased):
    decide = turn.desk.decide

    async def slowly(request, emit, **more):
        await asyncio.sleep(0.3)
        return await decide(request, emit, **more)

    turn.desk.decide = slowly
    turn.decision = "once"
    assert run(turn, "erase", path="a").seconds < 0.2


def test_a_denial_by_mode_says_that_it_was_the_mode(turn, erased):
    turn.policy = Policy.parse("deny", (), ())
    assert json.loads(run(turn, "erase", path="a").text)["denied_by"] == "mode"
    assert [event.by for event in turn.of(ApprovalResolved)] == ["mode"]


def test_what_a_deaf_tool_has_printed_is_kept_at_its_deadline(turn):
    stop = threading.Event()

    def deaf(args, *, on_output, **_):
        on_output("first ")
        on_output("second")
        return stop.wait(60) and "late"

    turn.tool("deaf", deaf, timeout=0.1)
    answer = json.loads(run(turn, "deaf").text)
    stop.set()
    assert answer["partial_output"] == "first second"


def test_what_a_tool_has_printed_is_kept_when_it_is_interrupted(turn):
    def patient(args, *, on_output, cancelled, **_):
        on_output("half of it")
        cancelled.wait(30)
        return "x"

    turn.tool("patient", patient)

    async def interrupt():
        road, printed = turn.road(), asyncio.Event()

        def heard(event):
            if isinstance(event, ToolOutputStreamed):
                printed.set()

        object.__setattr__(road, "emit", heard)
        task = asyncio.create_task(road.run(ToolCall(id="1", name="patient")))
        await printed.wait()
        task.cancel()
        with pytest.raises(CallInterrupted) as stopped:
            await task
        return stopped.value.printed

    assert asyncio.run(interrupt()) == "half of it"


def test_a_result_tells_what_the_tool_got_beside_what_the_model_wrote(turn):
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}}}
    turn.tool("double", lambda args, **_: tool_result(n=args["n"] * 2), parameters=parameters)
    result = run(turn, "double", n="21")
    assert (result.call.args, result.args) == ({"n": "21"}, {"n": 21})


def test_a_call_that_could_not_run_names_the_mistake_without_the_place(turn, erased):
    results = [run(turn, "erase", path=1.5), run(turn, "erase", path=[])]
    assert {result.mistake for result in results} == {"Invalid arguments for erase"}
    assert results[0].args is None


def here(turn, name, **args):
    """As a caller without a loop does it."""
    return turn.road().run_here(ToolCall(id="1", name=name, args=args))


def test_a_caller_without_a_loop_runs_a_tool_in_its_own_thread(turn):
    turn.tool("where", lambda args, **_: threading.current_thread().name)
    assert here(turn, "where").text == threading.current_thread().name


def test_a_caller_without_a_loop_takes_the_same_road(turn, erased):
    turn.policy = Policy.parse("ask", (), ("erase(b)",))
    turn.decision = "once"
    assert [here(turn, "erase", path=path).status for path in "ab"] == ["ok", "denied"]
    assert here(turn, "erase").mistake == "Invalid arguments for erase"
    assert erased == ["a"]


def test_a_caller_without_a_loop_is_kept_no_longer_than_the_deadline(turn):
    turn.tool("patient", lambda args, cancelled, **_: cancelled.wait(60) and "half", timeout=0.1)
    result = here(turn, "patient")
    assert result.status == "timeout"
    assert json.loads(result.text)["partial_result"] == "half"


def test_an_async_tool_is_awaited_for_a_caller_without_a_loop(turn):
    async def slow(args, **_):
        await asyncio.sleep(0)
        return "done"

    turn.tool("slow", slow)
    assert here(turn, "slow").text == "done"


@pytest.mark.parametrize("how", [run, here])
def test_the_time_in_which_a_call_waits_for_others_is_not_its_own(turn, how):
    def patient(args, waiting, cancelled, **_):
        with waiting():
            time.sleep(0.8)
        return "cut" if cancelled.is_set() else "whole"

    turn.tool("patient", patient, timeout=0.3)
    assert how(turn, "patient").text == "whole"


@pytest.mark.parametrize("how", [run, here])
def test_its_own_time_counts_before_and_after_it_waits(turn, how):
    def patient(args, waiting, cancelled, **_):
        with waiting():
            time.sleep(0.2)
        return "ended" if cancelled.wait(30) else "late"

    turn.tool("patient", patient, timeout=0.3)
    assert how(turn, "patient").status == "timeout"
