"""A server that dies while a kernel asks: nothing was run, and nothing is lost."""

from contextlib import suppress

from served import Server, kernel_of

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

DELETE = conversation("delete", (call("terminal", command="rm old.log"),), "done")


def test_a_new_server_runs_nothing_and_has_the_conversation(tmp_path):
    first = Server(tmp_path, {})
    with (
        ScriptedServer(DELETE) as model,
        suppress(OSError),  # its kernel cannot be shut down
        kernel_of(first, OPENAI_BASE_URL=model.url) as kernel,
    ):
        (kernel.folder / "old.log").write_text("x")
        kernel.front.run("%%agent --background\ndelete")
        request = kernel.request()
        first.process.kill()
        first.process.wait(20)
    second = Server(tmp_path, {})
    try:
        told = {"request": request["id"], "digest": request["digest"], "choice": "once"}
        assert second.hermes("api/pending").json == {"kernels": []}
        assert second.hermes(f"api/kernels/{kernel.id}/answer", told).status == 404

        def cut():
            (newest,) = second.hermes("api/sessions").json["sessions"]
            return newest if newest["was_cut"] else None

        assert second.wait_for(cut, "the end of its kernel")["title"] == "delete"
        assert (kernel.folder / "old.log").exists()
    finally:
        second.close()
