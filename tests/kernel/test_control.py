"""Questions are answered on the control channel, whatever the kernel's main thread does."""

from controlling import DELETE, answer, ask, asked, deleting, events

from hermes_jupyter.testing import call


def states(notebook):
    return [message for message in [*notebook.published] if message["msg_type"] == "status"]


def test_an_answer_lands_while_the_main_thread_sleeps(start):
    notebook, _, request = deleting(start, "--background")
    cell = notebook.fall_asleep(gate := notebook.folder / "gate")
    assert ask(notebook, "pending")["requests"] == [request]
    assert answer(notebook, request, "once")["outcome"]["decision"] == "once"
    notebook.until(lambda: events(notebook, "turn")[-1]["turn"]["state"] == "done", "the end")
    assert cell not in notebook.replies
    assert not (notebook.folder / "old.log").exists()
    heard = notebook.replies[last := notebook.reply_order[-1]]
    assert heard["msg_type"] == "hermes_reply"
    notebook.until(
        lambda: [m["parent_header"]["msg_id"] for m in states(notebook)][-2:] == [last, cell],
        "the cell's busy, after our idle",
    )
    assert states(notebook)[-1]["content"]["execution_state"] == "busy"
    nothing = {"requests": [], "questions": [], "turns": []}
    assert ask(notebook, "pending") == {"status": "ok", "protocol": 1, **nothing}
    gate.write_text("wake up")
    assert notebook.status(cell) == "ok"


def test_the_card_shows_that_it_was_answered_elsewhere(start):
    notebook, cell, request = deleting(start)
    assert (request["what"], request["folder"]) == ("rm old.log", str(notebook.folder))
    notebook.button("Deny")
    answer(notebook, request, "deny", note="it is needed")
    assert notebook.status(cell) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert "Denied by you on another page: it is needed" in notebook.record(cell)["text/plain"]
    assert "it is needed" in notebook.requests()[-1]["messages"][-1]["content"]


def test_a_late_answer_is_refused_and_says_how_it_was_answered(start):
    notebook, cell, request = deleting(start)
    notebook.click(notebook.button("Deny"))
    assert notebook.status(cell) == "ok"
    late = answer(notebook, request, "once")
    assert (late["status"], late["ename"]) == ("error", "answered")
    assert "Denied by you" in late["evalue"]
    assert (notebook.folder / "old.log").exists()


def test_an_interrupted_question_is_stale(start):
    notebook, cell, request = deleting(start)
    notebook.interrupt()
    assert notebook.status(cell) == "error"
    assert answer(notebook, request, "once")["ename"] == "stale"
    assert (notebook.folder / "old.log").exists()


BAD = [
    ({"digest": "0" * 64}, "digest"),
    ({"digest": None}, "invalid"),
    ({"digest": "x" * 1_000_000}, "invalid"),
    ({"request": "another"}, "unknown"),
    ({"choice": "yes"}, "invalid"),
    ({"choice": ["once"]}, "invalid"),
    ({"note": "x" * 1_000_000}, "invalid"),
    ({"edited": 7}, "invalid"),
    ({"edited": "rm -rf /", "choice": "session"}, "invalid"),
    ({"approve": True}, "invalid"),
    ({"protocol": 2}, "protocol"),
    ({"do": "run"}, "invalid"),
]


def test_forged_and_malformed_answers_approve_nothing(start):
    notebook, cell, request = deleting(start)
    good = {"request": request["id"], "digest": request["digest"], "choice": "once"}
    for wrong, code in BAD:
        content = {"protocol": 1, "do": "answer", **good, **wrong}
        refused = notebook.control("hermes_request", content)["content"]
        assert (refused["status"], refused["ename"]) == ("error", code), wrong
    assert ask(notebook, "pending")["requests"] == [request]
    answer(notebook, request, "deny")
    assert notebook.status(cell) == "ok"
    assert (notebook.folder / "old.log").exists()


def test_an_edited_command_runs_as_edited(start):
    notebook, cell, request = deleting(start)
    answer(notebook, request, "once", edited="echo kept > new.log")
    assert notebook.status(cell) == "ok"
    assert {path.name for path in notebook.folder.iterdir()} == {"old.log", "new.log"}


def test_a_turn_is_told_something_and_stopped(start):
    notebook = start((call("hold"),), "never")
    notebook.tool("hold", "    print('in it', flush=True)\n    context['cancelled'].wait(30)")
    cell = notebook.agent("go")
    notebook.until_text("in it")
    (turn,) = ask(notebook, "pending")["turns"]
    assert (turn["title"], turn["state"]) == ("go", "working")
    assert ask(notebook, "say", turn=turn["turn"], text="use tabs")["read_by_turn"] is True
    assert ask(notebook, "stop", turn=turn["turn"])["stopping"] is True
    assert notebook.status(cell) == "error"
    assert ask(notebook, "stop", turn=turn["turn"])["ename"] == "unknown"


def test_without_a_turn_nothing_waits_and_nothing_is_imported(start):
    notebook = start(load=False)
    notebook.run("%load_ext hermes_jupyter")
    assert ask(notebook, "pending")["requests"] == []
    assert ask(notebook, "status")["begun"] is False
    assert notebook.run("import sys; print('hermes_jupyter.api' in sys.modules)") == "False\n"


def info(reply):
    """What a kernel says of itself, without the banner: that ends in a tip of the day."""
    return {key: value for key, value in reply["content"].items() if key != "banner"}


def test_the_kernels_info_says_on_all_channels_whether_it_can_be_asked(start):
    notebook = start()
    notebook.run("%unload_ext hermes_jupyter")
    before = info(notebook.control("kernel_info_request", {}))
    notebook.run("%load_ext hermes_jupyter")
    cell = notebook.fall_asleep(gate := notebook.folder / "gate")
    features = [*before.get("supported_features", []), "hermes agents"]
    after = {**before, "supported_features": features}
    assert info(notebook.control("kernel_info_request", {})) == after
    assert cell not in notebook.replies
    gate.write_text("wake up")
    assert info(notebook.reply(notebook.send("kernel_info_request", {}))) == after
    notebook.run("%unload_ext hermes_jupyter")
    assert info(notebook.control("kernel_info_request", {})) == before


def test_unloading_is_told_and_answers_nothing_any_more(start):
    notebook = start()
    notebook.run("%unload_ext hermes_jupyter")
    assert notebook.until(lambda: events(notebook, "unloaded"), "the event")
    said = notebook.run("print('hermes_request' in get_ipython().kernel.control_handlers)")
    assert said == "False\n"


def test_a_prompt_is_withdrawn_when_it_was_answered_elsewhere(start):
    notebook = start(DELETE, "done")
    (notebook.folder / "old.log").write_text("x")
    notebook.run("%config Hermes.frontend = 'input'")
    cell = notebook.agent("delete", allow_stdin=True)
    notebook.until(lambda: notebook.input_requests, "a prompt")
    answer(notebook, asked(notebook), "once")
    assert notebook.status(cell) == "ok"
    assert not (notebook.folder / "old.log").exists()
    assert "Allowed once by you on another page" in notebook.text(cell)
