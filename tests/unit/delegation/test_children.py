import asyncio
import json

import pytest
from delegating import ECHO, delegating

from hermes_jupyter.agents_settings import DelegationSettings
from hermes_jupyter.calls import Usage
from hermes_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    ToolCallStarted,
    TurnStarted,
)
from hermes_jupyter.model_settings import ModelChoice
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation
from tools.registry import ToolRegistry, registry, tool_result


def test_a_report_has_the_keys_of_the_original(open_desk):
    desk = open_desk(conversation("^count", ECHO, "There is 1."), delegating("count them"))
    assert desk.run().text == "All is done."
    (report,) = desk.results
    assert report["duration_seconds"] >= 0
    assert report["tokens"]["input"] > report["tokens"]["output"] > 0
    (traced,) = report["tool_trace"]
    assert traced.keys() == {"tool", "args_bytes", "result_bytes", "status"}
    told = {key: report[key] for key in ("task_index", "status", "summary", "api_calls", "model")}
    assert told == {
        "task_index": 0,
        "status": "completed",
        "summary": "There is 1.",
        "api_calls": 2,
        "model": "scripted",
    }
    assert report["exit_reason"] == "completed"
    assert desk.answer["total_duration_seconds"] >= 0


def test_one_goal_is_a_task_like_any_other(open_desk):
    desk = open_desk(
        conversation("^count them\n\nContext:\nin logs$", "There is 1."),
        delegating(goal="count them", context="in logs"),
    )
    desk.run()
    assert [each["summary"] for each in desk.results] == ["There is 1."]


def test_reports_come_in_the_order_of_the_tasks(open_desk):
    slow = (call("terminal", command="sleep 0.3"),)
    desk = open_desk(
        conversation("^slow", slow, "I was slow."),
        conversation("^quick", "I was quick."),
        delegating("slow", "quick"),
    )
    desk.run()
    assert [event.child.number for event in desk.finished] == [2, 1]
    assert [each["summary"] for each in desk.results] == ["I was slow.", "I was quick."]


def test_a_child_knows_nothing_of_the_conversation(open_desk):
    desk = open_desk(conversation("^count", "1"), delegating("count"))
    desk.run("share, and the password is swordfish")
    (request,) = desk.asked("count")
    system, asked = request["messages"]
    assert asked == {"role": "user", "content": "count"}
    assert "swordfish" not in json.dumps(request)
    assert "works for another agent" in system["content"]


def test_children_with_the_same_tools_share_a_prompt_for_the_servers_cache(open_desk):
    desk = open_desk(conversation("^count", "1"), delegating("count a", "count b"))
    desk.run()
    first, second = (desk.asked(f"count {name}")[0] for name in "ab")
    assert first["messages"][0] == second["messages"][0]
    assert first["tools"] == second["tools"]


def test_a_child_has_a_shell_of_its_own_that_begins_in_its_parents_folder(open_desk, tmp_path):
    (tmp_path / "work" / "deep").mkdir()
    desk = open_desk(
        conversation("^look", (call("terminal", command='pwd; echo "<$word>"; cd /'),), "Looked."),
        conversation(
            "^share",
            (call("terminal", command="cd deep; word=parents"),),
            (call("delegate_task", goal="look"),),
            (call("terminal", command="pwd"),),
            "Done.",
        ),
    )
    desk.run(approve="off")
    inside = json.loads(desk.asked("look")[-1]["messages"][-1]["content"])["output"]
    folder = str(tmp_path / "work" / "deep")
    assert inside == f"{folder}\n<>\n"
    assert desk.answer["output"] == f"{folder}\n"


def test_the_shell_of_a_child_ends_with_it(open_desk):
    closed = []
    desk = open_desk(conversation("^look", ECHO, "Looked."), delegating("look"))

    def watch(event):
        if isinstance(event, ToolCallStarted) and event.call.name == "delegate_task":
            session = desk.hermes.session()
            beside = session.terminals.beside

            def opened(local):
                closed.append(local)
                return beside(local)

            session.terminals.beside = opened

    desk.on_event = watch
    desk.run()
    (local,) = closed
    with pytest.raises(RuntimeError, match="closed"):
        local.execute("true")


NAMES = {"read_file", "search_files", "write_file", "patch", "terminal", "process", "todo"}


def names_of(request):
    return {each["function"]["name"] for each in request["tools"]}


def test_a_child_has_its_parents_tools_but_those_that_none_may_have(open_desk):
    desk = open_desk(conversation("^look", "Looked."), delegating("look"))
    desk.run()
    parent, child = names_of(desk.asked("share")[0]), names_of(desk.asked("look")[0])
    assert parent - child == {"delegate_task", "clarify", "memory"}
    assert child <= parent


@pytest.mark.parametrize(
    ("toolsets", "wanted"),
    [
        (["read-only"], {"read_file", "search_files"}),
        (["terminal", "delegation", "memory", "clarify"], {"terminal", "process"}),
        ("file, todo", {"read_file", "search_files", "write_file", "patch", "todo"}),
        ([], None),
    ],
)
def test_a_child_may_be_given_fewer_tools(open_desk, toolsets, wanted):
    desk = open_desk(
        conversation("^look", "Looked."), delegating({"goal": "look", "toolsets": toolsets})
    )
    desk.run()
    names = names_of(desk.asked("look")[0])
    assert names == wanted if wanted else names >= NAMES


def test_a_child_never_gets_what_its_parent_has_not(open_desk):
    desk = open_desk(
        conversation("^look", "Looked."),
        delegating({"goal": "look", "toolsets": ["file", "terminal"]}),
        toolsets=("read_file", "delegation"),
    )
    desk.run()
    assert names_of(desk.asked("look")[0]) == {"read_file"}


def test_a_disable_wins_over_the_request(open_desk):
    desk = open_desk(
        conversation("^look", "Looked."),
        delegating({"goal": "look", "toolsets": ["file"]}),
        disabled=("write_file", "patch"),
    )
    desk.run()
    assert names_of(desk.asked("look")[0]) == {"read_file", "search_files"}


def test_a_tool_that_runs_scripts_sees_the_tools_of_its_child_only(open_desk):
    seen = []
    tools = ToolRegistry()
    tools.restore(registry.saved())
    tools.register(
        "execute_code",
        "code_execution",
        {"description": "x"},
        lambda args, **context: seen.append(context["tools"].names) or tool_result(ok=True),
        reads_only=lambda args, **_: True,
    )
    desk = open_desk(
        conversation("^look", (call("execute_code"),), "Looked."),
        delegating({"goal": "look", "toolsets": ["code_execution", "read_file"]}),
        tools=tools,
    )
    desk.run()
    assert seen == [{"execute_code", "read_file"}]


def test_a_call_that_a_child_may_not_make_does_not_run(open_desk):
    desk = open_desk(
        conversation("^look", (call("delegate_task", goal="deeper"),), "I could not."),
        delegating("look"),
    )
    desk.run()
    assert len(desk.started) == 1
    assert "There is no tool 'delegate_task'" in desk.asked("look")[-1]["messages"][-1]["content"]


DEEPER = (
    conversation("^deepest", "Down here."),
    conversation("^deeper", (call("delegate_task", goal="deepest"),), "Asked below."),
    delegating({"goal": "deeper", "role": "orchestrator"}),
)


def test_an_orchestrator_delegates_down_to_the_depth_that_is_set(open_desk):
    desk = open_desk(*DEEPER, delegation=DelegationSettings(max_spawn_depth=2))
    desk.run()
    assert desk.results[0]["summary"] == "Asked below."
    (nested,) = desk.told(type(desk.of(type(desk.finished[0]))[0]))
    assert nested[1].text == "Down here."


def test_without_a_setting_a_child_has_no_children(open_desk):
    desk = open_desk(*DEEPER)
    desk.run()
    assert "There is no tool" in str(desk.asked("deeper")[-1]["messages"])
    assert not desk.asked("deepest")


def test_tokens_of_children_are_counted_in_the_parents_turn(open_desk):
    desk = open_desk(conversation("^count", ECHO, "1"), delegating("count a", "count b"))
    result = desk.run()
    reports = desk.results
    assert result.usage.model_calls == 2 + sum(each["api_calls"] for each in reports) == 6
    own = result.usage.prompt_tokens - sum(each["tokens"]["input"] for each in reports)
    assert own > 0
    session = desk.hermes.session()
    assert session.usage == result.usage
    assert [each.purpose for each in session.usage_log.calls].count("child") == 4


def test_a_ceiling_of_the_turn_holds_for_all_of_its_children(open_desk):
    steps = [(call("terminal", command=f"seq {n} {n + 200}"),) for n in range(40)]
    desk = open_desk(
        conversation("^work", *steps),
        conversation("used up", "So far so good."),
        delegating(*(f"work {n}" for n in range(6))),
    )
    result = desk.run(max_tokens=60_000)
    assert 30_000 < result.usage.tokens <= 60_000
    assert result.text in {"All is done.", "So far so good."}  # room is kept for last words
    assert {each["status"] for each in desk.results} == {"failed"}
    assert {"the next call could pass the ceiling" in e["error"] for e in desk.results} == {True}


def test_a_child_has_a_budget_of_its_own(open_desk):
    steps = [(call("terminal", command=f"echo {n}"),) for n in range(3)]
    desk = open_desk(
        conversation("^work", *steps),
        conversation("used up", "Half is done."),
        delegating("work"),
        delegation=DelegationSettings(max_iterations=3),
    )
    desk.run(max_steps=2)
    (report,) = desk.results
    assert (report["status"], report["exit_reason"]) == ("failed", "max_iterations")
    assert (report["summary"], report["api_calls"]) == ("Half is done.", 4)


def test_children_ask_another_model_if_one_is_set(open_desk):
    with ScriptedServer(conversation("^count", "By another.")) as other:
        choice = ModelChoice(model="cheap", base_url=other.url)
        desk = open_desk(delegating("count"), delegation=DelegationSettings(model=choice))
        desk.run()
    (report,) = desk.results
    assert (report["summary"], report["model"]) == ("By another.", "cheap")


def test_no_more_work_at_once_than_is_set_and_the_others_wait(open_desk):
    at_work, most = set(), []
    goals = [f"work {n}" for n in range(7)]
    desk = open_desk(
        conversation("^work", ECHO, "Worked."),
        delegating(*goals),
        delegation=DelegationSettings(max_concurrent_children=2),
    )

    def watch(event):
        match type(event).__name__:
            case "ChildStarted":
                at_work.add(event.child.id)
                most.append(len(at_work))
            case "ChildFinished":
                at_work.discard(event.child.id)

    desk.on_event = watch
    desk.run()
    assert max(most) == 2
    assert [each["status"] for each in desk.results] == ["completed"] * 7


def test_a_long_summary_is_kept_whole_and_read_on_with_its_handle(open_desk):
    text = "".join(f"line {number}\n" for number in range(5_000))
    desk = open_desk(
        conversation("^write", text),
        delegating("write"),
        delegation=DelegationSettings(max_summary_chars=2_000),
    )
    desk.run()
    (report,) = desk.results
    assert len(report["summary"]) < 2_500
    assert "read_result" in report["summary"]
    (handle,) = desk.hermes.session().handles.known()
    assert desk.hermes.session().handles.whole(handle).strip() == text.strip()


def test_files_that_a_child_wrote_are_reported_and_count_as_the_agents_own(open_desk, tmp_path):
    path = tmp_path / "work" / "new.sh"
    desk = open_desk(
        conversation(
            "^write", (call("write_file", path="new.sh", content="rm notes.txt\n"),), "Written."
        ),
        conversation(
            "^share",
            (call("delegate_task", goal="write"),),
            (call("terminal", command="bash new.sh"),),
            "Done.",
        ),
    )
    desk.run()
    told = json.loads(desk.asked("share")[1]["messages"][-1]["content"])
    assert told["results"][0]["files_written"] == [str(path)]
    (request,) = [event.request for event in desk.of(ApprovalRequested)]
    assert "new.sh" in request.reason


def test_a_request_of_a_child_is_answered_in_the_parents_turn(open_desk, tmp_path):
    (tmp_path / "work" / "old.log").write_text("x")
    desk = open_desk(
        conversation("^tidy", (call("terminal", command="rm old.log"),), "Tidied."),
        delegating("tidy"),
    )
    desk.decision = "once"
    desk.run()
    (asked,) = desk.of(ApprovalRequested)
    (child,) = desk.started
    assert (asked.request.asker, asked.request.path) == ("1: tidy", (child.id,))
    ((_, own),) = desk.told(ApprovalResolved)
    assert (own.request.asker, own.request.path, own.decision) == ("", (), "once")
    assert not (tmp_path / "work" / "old.log").exists()


def test_what_was_allowed_for_the_session_holds_for_children(open_desk, tmp_path):
    remove = (call("terminal", command="rm -f old.log"),)
    desk = open_desk(
        conversation("^tidy", remove, "Tidied."),
        conversation("^share", remove, (call("delegate_task", goal="tidy"),), "Done."),
    )
    (tmp_path / "work" / "old.log").write_text("x")
    desk.decision = "session"
    desk.run()
    assert len(desk.of(ApprovalRequested)) == 1


def test_in_plan_mode_a_child_changes_nothing_either(open_desk, tmp_path):
    (tmp_path / "work" / "old.log").write_text("x")
    desk = open_desk(
        conversation("^tidy", (call("terminal", command="rm old.log"),), "I would delete it."),
        delegating("tidy"),
    )
    result = desk.run(approve="plan")
    assert (tmp_path / "work" / "old.log").exists()
    assert result.refused == ("terminal: rm old.log",)
    assert desk.results[0]["summary"] == "I would delete it."


def test_every_decision_about_a_child_is_in_the_audit_log_once(open_desk, tmp_path):
    (tmp_path / "work" / "old.log").write_text("x")
    desk = open_desk(
        conversation("^tidy", (call("terminal", command="rm old.log"),), "No."),
        delegating("tidy"),
    )
    desk.run()
    entries = desk.hermes.session().audit.last(10)
    assert [(each["session"], each["decision"]) for each in entries] == [("main › 1: tidy", "deny")]


def test_a_hook_of_a_plugin_is_asked_about_the_calls_of_children(open_desk):
    desk = open_desk(conversation("^count", ECHO, "No."), delegating("count"))
    asked = []

    def block(tool_name, **_):
        asked.append(tool_name)
        return {"action": "block", "message": "not today"} if tool_name == "terminal" else None

    desk.hermes.hooks.register("pre_tool_call", block)
    desk.run()
    assert asked == ["delegate_task", "terminal"]
    assert "not today" in desk.asked("count")[-1]["messages"][-1]["content"]


def test_a_rule_that_denies_holds_for_children(open_desk):
    desk = open_desk(
        conversation("^count", ECHO, "No."), delegating("count"), deny=("terminal(*)",)
    )
    desk.run()
    ((_, resolved),) = desk.told(ApprovalResolved)
    assert (resolved.decision, resolved.by) == ("deny", "rule")


def test_a_child_begins_where_its_parents_model_is_asked_now(open_desk):
    desk = open_desk(
        conversation("^count", "1"),
        delegating("count"),
        fallback_models=(ModelChoice(model="second"),),
    )
    real = desk.hermes.model(desk.hermes.settings)
    broken = type("Broken", (), {"name": "first", "window": 0, "price": None, "prefills": False})()
    calls = []

    async def reply(*_, **__):
        from hermes_jupyter.errors import ModelError

        calls.append("first")
        raise ModelError("gone", kind="auth")

    broken.reply = reply
    desk.hermes.model = lambda settings: broken
    desk.run()
    assert calls == ["first"]
    assert desk.results[0]["model"] == "second"
    asyncio.run(real.close())


def test_a_turn_by_hand_may_delegate(open_desk):
    from hermes_jupyter.one_call import run_call, wanted_call
    from hermes_jupyter.turn_values import TurnOptions

    desk = open_desk(conversation("^count", "There is 1."))
    session, options = desk.hermes.session(), TurnOptions()

    async def main():
        about = {"session": session, "options": options}
        wanted = wanted_call(desk.hermes, "delegate_task", '{"goal": "count"}', **about)
        return await run_call(wanted, hermes=desk.hermes, listeners=[], context={}, **about)

    assert asyncio.run(main()).json()["results"][0]["summary"] == "There is 1."


def test_a_childs_turn_tells_who_it_is(open_desk):
    desk = open_desk(conversation("^count", "1"), delegating("count"))
    desk.run()
    ((child, started),) = desk.told(TurnStarted)
    assert started.session == f"main/{child}"
    assert started.steps == 50
    assert desk.finished[0].usage != Usage()


def test_a_child_works_where_its_parent_works(open_desk, tmp_path, monkeypatch):
    from tools.environments import backends
    from tools.environments.backends import Backend
    from tools.environments.local_host import LocalHost
    from tools.environments.remote import RemoteEnvironment

    class Elsewhere(LocalHost):
        name = "elsewhere"

    opened = []

    def there(settings, options):
        opened.append(RemoteEnvironment("elsewhere", Elsewhere(), cwd=options.workspace))
        return opened[-1]

    place = Backend(name="elsewhere", title="t", open=there, available=lambda _: (True, ""))
    monkeypatch.setattr(backends, "backends", lambda: {"elsewhere": place})
    desk = open_desk(
        conversation("^write", (call("write_file", path="a.txt", content="x"), *ECHO), "Written."),
        delegating("write"),
        terminal={"TERMINAL_ENV": "elsewhere"},
    )
    desk.run()
    assert desk.results[0]["files_written"] == [f"{tmp_path}/work/a.txt"]
    assert len(opened) == 1
    assert opened[0].execute("cat a.txt").output.strip() == "x"
