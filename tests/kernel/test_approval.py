"""Buttons that work while the cell runs."""

import time

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

DELETE = (call("terminal", command="rm old.log"),)


def delete(start, **options):
    """A turn that waits for a person before it deletes a file."""
    notebook = start(DELETE, "That is all.")
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("delete old.log", **options)
    return notebook, request


def status_messages(notebook, *requests):
    return [
        (requests.index(m["parent_header"]["msg_id"]), m["content"]["execution_state"])
        for m in notebook.published
        if m["msg_type"] == "status" and m["parent_header"].get("msg_id") in requests
    ]


@pytest.mark.parametrize("label", ["Allow once", "Allow this session", "Deny"])
def test_a_click_decides_while_the_cell_is_busy(start, label):
    notebook, request = delete(start)
    notebook.show_widgets()
    button = notebook.button(label)
    assert request not in notebook.replies
    click = notebook.click(button)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists() == (label == "Deny")
    assert status_messages(notebook, request, click)[-4:] == [
        (1, "busy"), (1, "idle"), (0, "busy"), (0, "idle"),
    ]  # fmt: skip
    assert notebook.stderr() == ""


def test_a_denial_reaches_the_model(start):
    notebook, request = delete(start)
    notebook.show_widgets()
    notebook.click(notebook.button("Deny"))
    notebook.status(request)
    told = notebook.requests()[-1]["messages"][-1]
    assert told["role"] == "tool"
    assert "was not run" in told["content"]


def test_without_widgets_input_asks(start):
    notebook = start(
        conversation("old", DELETE, "done"),
        conversation("new", (call("terminal", command="rm new.log"),), "done"),
    )
    for name in ("old.log", "new.log"):
        (notebook.folder / name).write_text("x")
    request = notebook.agent("delete the old one", allow_stdin=True)
    prompt = notebook.answer("n")
    assert "rm old.log" in prompt
    assert notebook.status(request) == "ok"
    request = notebook.agent("delete the new one", allow_stdin=True)
    notebook.answer("y")
    assert notebook.status(request) == "ok"
    assert [path.name for path in notebook.folder.iterdir()] == ["old.log"]


@pytest.mark.parametrize("answer", ["", "no", "maybe"])
def test_anything_but_yes_at_the_prompt_is_no(start, answer):
    notebook, request = delete(start, allow_stdin=True)
    notebook.answer(answer)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()


def test_headless_denies_and_says_so(start):
    notebook, request = delete(start, allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert (notebook.folder / "old.log").exists()
    assert "nobody could be asked" in notebook.record(request)["text/plain"]
    assert not notebook.input_requests
    assert not notebook.widgets("VBoxModel")


def test_a_rule_allows_where_nobody_can_be_asked(start):
    notebook = start(DELETE, "done")
    (notebook.folder / "old.log").write_text("x")
    notebook.run("%config Hermes.allow = ['terminal(rm old.log)']")
    request = notebook.agent("delete", allow_stdin=False)
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()


def test_approve_off_runs_without_asking(start):
    notebook = start(DELETE, "done")
    (notebook.folder / "old.log").write_text("x")
    request = notebook.agent("delete", "--approve off")
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()


def test_a_late_click_on_a_dead_card_is_harmless(start):
    notebook, request = delete(start)
    notebook.show_widgets()
    button = notebook.button("Allow once")
    notebook.interrupt()
    assert notebook.status(request) == "error"
    notebook.click(button)
    assert notebook.run("print('alive')") == "alive\n"
    assert (notebook.folder / "old.log").exists()


def test_two_changes_of_a_widget_are_both_answered_with_idle(start):
    """ipywidgets holds back a second change until the first is answered."""
    notebook, request = delete(start)
    notebook.show_widgets()
    player = notebook.until_widget("PlayModel")
    for value in (2, 3, 4):
        change = notebook.comm(player, {"method": "update", "state": {"value": value}})
        notebook.until_idle(change, 2)
    notebook.click(notebook.button("Deny"))
    assert notebook.status(request) == "ok"


def test_widgets_of_others_wait_for_the_cell(start):
    notebook = start(DELETE, "done")
    notebook.run(
        "import ipywidgets, threading\n"
        "got = []\n"
        "slider = ipywidgets.IntSlider()\n"
        "slider.observe(lambda change: got.append(change.new), 'value')"
    )
    slider = notebook.until_widget("IntSliderModel")
    request = notebook.agent("delete")
    notebook.show_widgets()
    button = notebook.button("Deny")
    notebook.comm(slider, {"method": "update", "state": {"value": 5}})
    during = notebook.execute("print('queued', got)")
    notebook.click(button)
    assert notebook.status(request) == "ok"
    notebook.status(during)
    notebook.until(lambda: "[5]" in notebook.run("print(got)"), "the slider's change")


def test_clicks_fire_no_cell_events(start):
    """matplotlib would show and close half-drawn figures of the running cell."""
    notebook = start(DELETE, "done", fresh=True)
    notebook.run(
        "fired = []\n"
        "for name in ('pre_execute', 'post_execute'):\n"
        "    get_ipython().events.register(name, lambda name=name: fired.append(name))"
    )
    notebook.run("fired.clear()")
    request = notebook.agent("delete")
    notebook.show_widgets()
    notebook.click(notebook.button("Deny"))
    notebook.status(request)
    # post_ of the clearing cell, pre_ and post_ of the agent's, pre_ of this one
    assert notebook.run("print(len(fired))") == "4\n"


def test_a_reloaded_page_gets_its_widgets_while_the_cell_is_busy(start):
    notebook, request = delete(start)
    notebook.show_widgets()
    button = notebook.button("Deny")
    info = notebook.send("kernel_info_request", {})
    assert notebook.reply(info, 3)["content"]["status"] == "ok"
    comms = notebook.send("comm_info_request", {"target_name": "jupyter.widget"})
    assert button in notebook.reply(comms, 3)["content"]["comms"]
    opened = notebook.client.session.msg(
        "comm_open",
        {"comm_id": "page", "target_name": "jupyter.widget.control", "data": {}},
        metadata={"version": "1.0.0"},
    )
    notebook.client.shell_channel.send(opened)
    notebook.comm("page", {"method": "request_states"})

    def states():
        return [
            m["content"]["data"]["states"]
            for m in notebook.published
            if m["msg_type"] == "comm_msg" and m["content"]["comm_id"] == "page"
        ]

    assert button in notebook.until(states, "the widgets' states", 5)[0]
    assert request not in notebook.replies
    notebook.click(button)
    assert notebook.status(request) == "ok"


def test_attach_shows_the_running_turn_at_once(start):
    notebook, request = delete(start)
    notebook.show_widgets()
    button = notebook.button("Allow once")
    attach = notebook.execute("%hermes attach")
    assert notebook.status(attach, 3) == "ok"
    assert request not in notebook.replies
    shown = notebook.bundles(attach)[0]
    assert "application/vnd.jupyter.widget-view+json" in shown
    notebook.click(button)
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()


def test_stop_ends_the_running_turn_at_once(start):
    notebook, request = delete(start)
    notebook.show_widgets()
    notebook.button("Deny")
    stop = notebook.execute("%hermes stop")
    assert notebook.status(request, 3) == "error"
    assert notebook.status(stop, 3) == "ok"
    assert (notebook.folder / "old.log").exists()


@pytest.mark.parametrize("part", ["click", "agent"])
def test_subshells(start, part):
    """JupyterLab sends comm messages to a subshell on ipykernel 7; an agent may run on one too."""
    notebook = start(DELETE, "done")
    if notebook.major < 7:
        pytest.skip("ipykernel 6 has no subshells")
    (notebook.folder / "old.log").write_text("x")
    subshell = notebook.control("create_subshell_request", {})["content"]["subshell_id"]
    if part == "click":
        request = notebook.agent("delete")
    else:
        content = {"code": "%%agent\ndelete", "silent": False, "store_history": True,
                   "user_expressions": {}, "allow_stdin": True, "stop_on_error": True}  # fmt: skip
        request = notebook.send("execute_request", content, subshell=subshell)
    notebook.show_widgets(subshell=subshell)
    notebook.click(notebook.button("Allow once"), subshell=subshell)
    assert notebook.status(request) == "ok"
    assert not (notebook.folder / "old.log").exists()


def test_click_latency(start, record_property):
    """Two hundred clicks all arrive; how fast, the benchmark tells."""
    notebook = start()
    body = (
        "import asyncio, ipywidgets, uuid\n"
        "from hermes_jupyter.kernel.cell import Cell\n"
        "from hermes_jupyter.kernel.runner import run_in_cell\n"
        "owned, kernel, got = set(), get_ipython().kernel, []\n"
        "cell = Cell(kernel, owned)\n"
        "name = uuid.uuid4().hex; cell.own_comm(name)\n"
        "button = ipywidgets.Button(description='count', model_id=name)\n"
        "async def main():\n"
        "    loop = asyncio.get_running_loop(); all_there = asyncio.Event()\n"
        "    def clicked(_):\n"
        "        got.append(1)\n"
        "        if len(got) == 200: loop.call_soon_threadsafe(all_there.set)\n"
        "    button.on_click(clicked)\n"
        "    print('ready', flush=True)\n"
        "    await all_there.wait()\n"
        "run_in_cell(cell, main, kernel=kernel, owned=owned, commands={})\n"
        "print('all', len(got))"
    )
    request = notebook.execute(body)
    notebook.until_text("ready")
    button = notebook.until_widget("ButtonModel", description="count")
    began = time.monotonic()
    for _ in range(200):
        notebook.click(button)
    assert notebook.status(request) == "ok"
    record_property("seconds", time.monotonic() - began)
    assert "all 200" in notebook.text(request)


def test_the_kernel_is_shown_busy_after_requests_on_other_channels(start):
    """A page makes subshells over the control channel, whose answer ends in idle."""
    notebook, request = delete(start)
    notebook.show_widgets()
    button = notebook.button("Deny")
    asked = notebook.control("kernel_info_request", {})["parent_header"]["msg_id"]
    notebook.until_idle(asked)

    def shown():
        return [
            (m["parent_header"].get("msg_id"), m["content"]["execution_state"])
            for m in notebook.published
            if m["msg_type"] == "status"
        ]

    notebook.until(lambda: shown()[-1] == (request, "busy"), "busy after idle", 5)
    notebook.click(button)
    assert notebook.status(request) == "ok"
