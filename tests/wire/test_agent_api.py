"""`hermes_jupyter.Agent`: in a script, in coroutines, in threads, and with a loop running."""

import asyncio
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import hermes_jupyter
from hermes_jupyter import Agent, api
from hermes_jupyter.calls import Ruling
from hermes_jupyter.errors import ConfigurationError, ModelError, TurnError
from hermes_jupyter.events import TextStreamed, ToolCallFinished, TurnFinished, TurnStarted
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

DELETE = (call("terminal", command="rm old.log"),)
SCRIPT = (
    conversation("delete", DELETE, "It is gone."),
    conversation("wait", (call("terminal", command="sleep 40"),), "never"),
    conversation("break", (call("todo"),)),  # and no step after it
    conversation("Go on with", "Now it is done."),
    conversation("hello", "Hello there."),
)


@pytest.fixture(scope="module")
def server():
    with ScriptedServer(*SCRIPT) as server:
        yield server


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with the file that the turns want to delete."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "old.log").write_text("x")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def make(server, folder, tmp_path):
    """Make an agent that asks the scripted model."""
    api.close()
    api.desktop(Settings(home=tmp_path / "home"))
    yield lambda **options: Agent(**{"base_url": server.url, "model": "scripted", **options})
    api.close()


def ask(agent, prompt="hello"):
    return agent.run_sync(prompt)


def test_run_sync_gives_a_result(make):
    with make() as agent:
        result = ask(agent)
    assert (result.text, result.status, result.steps) == ("Hello there.", "done", 1)
    assert result.usage.tokens > 0
    assert agent.result == result
    assert str(result) == "Hello there."


def test_run_is_awaited_and_the_callers_loop_goes_on(make):
    async def main():
        async with make() as agent:
            beats = 0
            turn = asyncio.create_task(agent.run("hello"))
            while not turn.done():
                beats += 1
                await asyncio.sleep(0)
            return beats, turn.result().text

    beats, text = asyncio.run(main())
    assert text == "Hello there."
    assert beats > 3


def test_run_sync_works_where_a_loop_is_running(make):
    async def main():
        with make() as agent:
            return agent.run_sync("hello").text

    assert asyncio.run(main()) == "Hello there."


def test_run_sync_works_in_a_thread_of_a_running_loop(make):
    async def main():
        with make() as agent, ThreadPoolExecutor(1) as threads:
            loop = asyncio.get_running_loop()
            return (await loop.run_in_executor(threads, agent.run_sync, "hello")).text

    assert asyncio.run(main()) == "Hello there."


def test_agents_have_conversations_of_their_own_and_run_side_by_side(make):
    async def main():
        async with make() as one, make() as other:
            results = await asyncio.gather(one.run("hello"), other.run("hello"))
            assert one.session != other.session
            return {result.session for result in results}

    assert len(asyncio.run(main())) == 2


def test_a_named_conversation_goes_on(make, server):
    ask(make(session="sales"), "hello one")
    ask(make(session="sales"), "hello two")
    users = [m["content"] for m in server.requests[-1][1]["messages"] if m["role"] == "user"]
    assert users == ["hello one", "hello two"]


def test_asyncio_is_not_patched(make):
    before = {name: getattr(asyncio, name) for name in ("run", "Task", "get_event_loop")}
    run_once = asyncio.BaseEventLoop._run_once
    ask(make())
    assert {name: getattr(asyncio, name) for name in before} == before
    assert asyncio.BaseEventLoop._run_once is run_once


def test_events_are_heard_in_order(make):
    heard = []
    ask(make(on_event=heard.append))
    assert isinstance(heard[0], TurnStarted)
    assert isinstance(heard[-1], TurnFinished)
    assert "".join(e.text for e in heard if isinstance(e, TextStreamed)) == "Hello there."


def test_a_listener_that_fails_ends_no_turn(make):
    assert ask(make(on_event=lambda event: 1 / 0)).text == "Hello there."


def test_events_are_streamed_in_the_callers_loop(make):
    async def main():
        async with make() as agent:
            events = [event async for event in agent.stream("hello")]
            return agent.result, events

    result, events = asyncio.run(main())
    assert isinstance(events[0], TurnStarted)
    assert isinstance(events[-1], TurnFinished)
    assert result.text == events[-1].text == "Hello there."


def test_to_leave_a_stream_early_ends_the_turn(make):
    async def main():
        async with make(approvals="off", tools="terminal") as agent:
            events = agent.stream("wait")
            async for event in events:
                if type(event).__name__ == "ToolCallStarted":
                    break
            await events.aclose()
            return agent.result.status, await agent.run("hello")

    status, after = asyncio.run(main())
    assert status == "interrupted"
    assert after.text == "Hello there."


def test_a_failed_turn_raises_and_leaves_its_result(make):
    agent = make(max_tries=1)
    with pytest.raises(ModelError, match="no step 2"):
        ask(agent, "break")
    assert (agent.result.status, agent.result.text) == ("failed", "")

    async def go_on():
        return await agent.go_on()

    assert asyncio.run(go_on()).text == "Now it is done."


def test_a_stream_raises_behind_its_last_event(make):
    async def main():
        async with make(max_tries=1) as agent:
            async for event in agent.stream("break"):
                last.append(event)

    last = []
    with pytest.raises(ModelError):
        asyncio.run(main())
    assert isinstance(last[-1], TurnFinished)


def test_stop_ends_a_turn_and_gives_its_result(make):
    def stop(event):
        if type(event).__name__ == "ToolCallStarted":
            agent.stop()

    agent = make(approvals="off", tools=["terminal"], on_event=stop)
    assert ask(agent, "wait").status == "interrupted"

    async def awaited():
        return await agent.run("wait")

    assert asyncio.run(awaited()).status == "interrupted"


def test_a_cancelled_caller_cancels_the_turn(make):
    async def main():
        loop, started = asyncio.get_running_loop(), asyncio.Event()

        def hear(event):
            if type(event).__name__ == "ToolCallStarted":
                loop.call_soon_threadsafe(started.set)

        agent = make(approvals="off", tools="terminal", on_event=hear)
        task = asyncio.create_task(agent.run("wait"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        return agent.result.status, cancelled.type

    assert asyncio.run(main()) == ("interrupted", asyncio.CancelledError)


def test_a_timeout_of_asyncio_is_one(make):
    async def main():
        async with asyncio.timeout(0.05):
            await make(approvals="off", tools="terminal").run("wait")

    with pytest.raises(TimeoutError):
        asyncio.run(main())


async def agrees(request):
    await asyncio.sleep(0)
    return request.call.name == "terminal"


@pytest.mark.parametrize(
    ("approve", "stays"),
    [
        (lambda request: True, False),
        (lambda request: "once", False),
        (lambda request: Ruling(decision="session"), False),
        (agrees, False),
        (lambda request: agrees(request), False),
        (lambda request: False, True),
        (lambda request: None, True),
        (lambda request: "deny", True),
        (lambda request: "perhaps", True),
        (lambda request: 1 / 0, True),
    ],
)
def test_a_function_decides_about_calls(make, folder, approve, stays):
    result = ask(make(approve=approve), "delete old.log")
    assert result.status == "done"
    assert (folder / "old.log").exists() == stays


def test_an_async_function_that_decides_runs_on_the_callers_loop(make, folder):
    async def main():
        here = asyncio.get_running_loop()

        async def approve(request):
            loops.append(asyncio.get_running_loop() is here)
            return True

        async with make(approve=approve) as agent:
            await agent.run("delete old.log")

    loops = []
    asyncio.run(main())
    assert loops == [True]
    assert not (folder / "old.log").exists()


def test_what_is_not_offered_is_denied(make, folder):
    """ "always" is not offered where a rule could not be kept."""
    ask(make(approve=lambda request: Ruling(decision="once", edited="rm -rf /")), "delete old.log")
    assert (folder / "old.log").exists()


def test_without_a_terminal_the_answer_is_no_and_the_call_is_listed(make, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    result = ask(make(), "delete old.log")
    assert (folder / "old.log").exists()
    assert result.refused == ("terminal: rm old.log",)


def test_nothing_is_printed(make, capfd):
    ask(make())
    assert capfd.readouterr() == ("", "")


def test_something_can_be_said_while_it_works(make, server):
    def hear(event):
        if isinstance(event, ToolCallFinished):
            assert agent.say("hello again")

    agent = make(on_event=hear)
    assert ask(agent, "break").text == "Hello there."
    assert not agent.say("later")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colour": "red"}, "no setting 'colour'"),
        ({"home": "/x"}, "no setting 'home'"),
        ({"approvals": "maybe"}, "--approve must be one of"),
        ({"max_steps": -1}, "max_steps must be at least 1"),
        ({"allow": ["terminal(rm"]}, "is no rule"),
        ({"tools": "nosuch"}, "nosuch"),
    ],
)
def test_a_wrong_setting_is_refused(make, options, said):
    with pytest.raises(ConfigurationError, match=said):
        ask(make(**options))


def test_no_tools_means_none(make, server):
    ask(make(tools=()))
    assert "tools" not in server.requests[-1][1]


def test_a_closed_agent_says_so_and_its_conversation_stays_stored(make):
    agent = make()
    ask(agent)
    agent.close()
    agent.close()
    with pytest.raises(TurnError, match="closed"):
        ask(agent)
    here = api.desktop().hermes
    assert agent.session not in [session.name for session in here.sessions()]
    assert agent.session in [about.name for about in here.conversations.stored.listing()]


def test_run_sync_on_the_agents_own_loop_is_refused(make):
    async def on_the_loop():
        return make().run_sync("hello")

    from tools.async_bridge import loop_thread

    with pytest.raises(TurnError, match="await run"):
        loop_thread().run(on_the_loop())


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nosuch"):
        _ = hermes_jupyter.nosuch


SCRIPTS = {
    "plain": """
import hermes_jupyter
agent = hermes_jupyter.Agent()
print(agent.run_sync("delete old.log").refused)
""",
    "asyncio.run": """
import asyncio, hermes_jupyter
async def main():
    async with hermes_jupyter.Agent() as agent:
        print((await agent.run("delete old.log")).refused)
asyncio.run(main())
""",
    "function": """
import hermes_jupyter
def tidy():
    with hermes_jupyter.Agent() as agent:
        return agent.run_sync("delete old.log").refused
print(tidy())
""",
}


@pytest.fixture
def env(server, tmp_path):
    """The variables of a script."""
    home = str(tmp_path / "home")
    return {
        **os.environ, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": server.url, "HERMES_HOME": home,
    }  # fmt: skip


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_script_ends_by_itself_and_prints_what_it_prints(kind, env, folder):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPTS[kind]],
        capture_output=True, text=True, timeout=60, input="y\ny\n", env=env,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("('terminal: rm old.log',)\n", "")
    assert done.returncode == 0
    assert (folder / "old.log").exists()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize(("typed", "stays"), [(b"y\n", False), (b"n\n", True)])
def test_a_script_at_a_terminal_asks_there(kind, env, folder, typed, stays):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-W", "error", "-c", SCRIPTS[kind]]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as script:
        os.close(theirs)
        shown = read_until(ours, b"Enter = no: ")
        os.write(ours, typed)
        shown += read_until(ours, b"()\r\n")
    os.close(ours)
    assert b"rm old.log" in shown
    assert script.returncode == 0
    assert (folder / "old.log").exists() == stays


def read_until(terminal, wanted):
    shown = b""
    while wanted not in shown:
        shown += os.read(terminal, 4096)
    return shown
