"""The server lists what waits in its kernels, and answers, whatever their main threads do."""

import json

import pytest
import websocket
from served import TOKEN, kernel_of

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

DELETE = conversation("delete", (call("terminal", command="rm old.log"),), "All is done.")


@pytest.fixture(scope="module")
def kernel(server):
    with ScriptedServer(DELETE) as model, kernel_of(server, OPENAI_BASE_URL=model.url) as kernel:
        yield kernel


def deleting(kernel):
    """What a turn in the background asks."""
    (kernel.folder / "old.log").write_text("x")
    kernel.front.run("%%agent --background --new\ndelete")
    return kernel.request()


def denied(kernel, request):
    """Deny it, and wait for the end of the turn."""
    answer = kernel.answer(request, "deny", note="keep it")
    kernel.server.wait_for(lambda: not kernel.pending()["turns"], "the end of the turn")
    assert (kernel.folder / "old.log").exists()
    return answer


def events(server):
    url = server.url.replace("http", "ws", 1) + f"hermes/api/events?token={TOKEN}"
    return websocket.create_connection(url, timeout=20)


def heard(socket, wanted):
    while True:
        event = json.loads(socket.recv())
        if wanted(event):
            return event


def test_what_waits_is_answered_while_the_main_thread_sleeps(kernel):
    request = deleting(kernel)
    cell = kernel.front.fall_asleep(gate := kernel.folder / "gate")
    assert request["what"] == "rm old.log"
    assert kernel.answer(request, "once").json["outcome"]["decision"] == "once"
    kernel.server.wait_for(lambda: not (kernel.folder / "old.log").exists(), "the deletion")
    assert cell not in kernel.front.replies
    state = kernel.server.ask("GET", f"api/kernels/{kernel.id}").json["execution_state"]
    assert state != "idle"  # what we ask is no cell that has ended
    gate.write_text("wake up")
    kernel.server.wait_for(lambda: not kernel.pending()["turns"], "the end of the turn")
    late = kernel.answer(request, "deny")
    assert late.status == 409
    assert late.json["message"].startswith("answered: Allowed once by you on another page")


def test_events_come_as_they_happen(kernel):
    socket = events(kernel.server)
    first = heard(socket, lambda event: event["event"] == "pending")
    assert kernel.id in [each["kernel"] for each in first["kernels"]]
    request = deleting(kernel)
    asked = heard(socket, lambda event: event["event"] == "asked")
    assert asked["request"]["digest"] == request["digest"]
    denied(kernel, request)
    answered = heard(socket, lambda event: event["event"] == "answered")
    assert answered["kernel"] == kernel.id
    assert answered["request"]["outcome"]["said"] == "Denied by you on another page: keep it"
    socket.close()


def test_a_forged_digest_approves_nothing(kernel):
    request = deleting(kernel)
    assert kernel.answer({**request, "digest": "0" * 64}, "once").status == 409
    assert kernel.answer({**request, "id": "another"}, "once").status == 404
    assert kernel.answer(request, "yes").status == 400
    assert kernel.answer(request, "once", run=True).status == 400
    assert kernel.request() == request
    denied(kernel, request)


def test_a_turn_is_stopped_from_elsewhere(kernel):
    request = deleting(kernel)
    (turn,) = kernel.pending()["turns"]
    about = {"turn": turn["turn"]}
    path = f"api/kernels/{kernel.id}"
    assert kernel.server.hermes(f"{path}/say", {**about, "text": "hm"}).json["read_by_turn"]
    assert kernel.server.hermes(f"{path}/stop", about).json["stopping"] is True
    kernel.server.wait_for(lambda: not kernel.pending()["turns"], "the end of the turn")
    assert kernel.answer(request, "once").status == 409
    assert kernel.server.hermes(f"{path}/stop", about).status == 404
    assert (kernel.folder / "old.log").exists()


def test_a_kernel_complains_of_nothing_until_it_loads_the_extension_and_is_then_heard(server):
    with kernel_of(server, load=False) as kernel:
        socket = events(server)
        first = heard(socket, lambda event: event["event"] == "pending")
        assert kernel.id in [each["kernel"] for each in first["kernels"]]
        assert kernel.pending()["state"] == "unloaded"
        refused = kernel.answer({"id": "r", "digest": "d"}, "once")
        assert refused.status == 404
        assert "%load_ext hermes_jupyter" in refused.json["message"]
        kernel.front.control("kernel_info_request", {})  # it has dealt with all before that
        kernel.front.run("%load_ext hermes_jupyter")
        ready = heard(socket, lambda event: event["event"] == "ready")
        assert ready["kernel"] == kernel.id
        assert kernel.pending()["state"] == "answers"
        socket.close()
    assert "UNKNOWN CONTROL MESSAGE TYPE" not in server.log.read_text()


def test_conversations_are_listed_searched_read_and_exported(kernel):
    denied(kernel, deleting(kernel))
    server = kernel.server
    newest = server.hermes("api/sessions?limit=1").json["sessions"][0]
    assert (newest["title"], newest["is_open"]) == ("delete", True)
    found = server.hermes("api/sessions?in=messages&q=done").json["found"]
    assert newest["id"] in [each["session_id"] for each in found]
    read = server.hermes(f"api/sessions/{newest['id']}").json
    assert read["messages"][-1]["content"] == "All is done."
    exported = server.hermes(f"api/sessions/{newest['id']}/export/md")
    assert exported.headers["Content-Type"].startswith("text/markdown")
    assert "attachment" in exported.headers["Content-Disposition"]
    assert "Denied by you on another page: keep it" in exported.body.decode()
    assert server.hermes("api/usage").json["sessions"]["sessions"] >= 1
    assert server.hermes("api/health").json["store"] == "ok"


def test_a_kernel_that_dies_while_it_asks_leaves_nothing_to_answer(kernel):
    """The last one: its kernel is dead."""
    request = deleting(kernel)
    socket = events(kernel.server)
    kernel.front.execute("import os; os._exit(1)")
    gone = heard(socket, lambda event: event["event"] in ("gone", "restarted"))
    assert gone["kernel"] == kernel.id
    socket.close()
    assert kernel.answer(request, "once").status in (404, 504)
    assert (kernel.folder / "old.log").exists()
