"""The scripted endpoint, which other tests rely on."""

import json
import subprocess
import sys

import pytest

from hermes_jupyter.errors import ModelError
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation


def user(text):
    return {"role": "user", "content": text}


def assistant(text=""):
    return {"role": "assistant", "content": text}


def test_the_assistants_messages_since_the_prompt_choose_the_step(ask):
    with ScriptedServer(
        (call("read_file", path="a"), call("read_file", path="b")), "Done."
    ) as server:
        calls = ask(server.url).reply.calls
        assert [json.loads(made.arguments)["path"] for made in calls] == ["a", "b"]
        assert len({made.id for made in calls}) == 2
        again = [user("old"), assistant(), user("new"), assistant(), assistant()]
        assert ask(server.url, again[:4]).reply.text == "Done."
        with pytest.raises(ModelError, match="has no step 3"):
            ask(server.url, again)


def test_the_prompt_chooses_the_conversation(ask):
    with ScriptedServer(conversation("delete", "No."), "Hello.") as server:
        assert ask(server.url, [user("please delete it")]).reply.text == "No."
        assert ask(server.url, [user("hi")]).reply.text == "Hello."


def test_a_script_file_is_served_by_a_process_until_its_input_ends(ask, tmp_path):
    script = tmp_path / "script.json"
    steps = [
        {"text": "Hi.", "reasoning": "Hm.", "delay": 0.001, "calls": [{"name": "todo"}]},
        {"error": {"status": 429, "message": "later", "retry_after": "1"}},
    ]
    script.write_text(json.dumps([{"match": "^a", "steps": steps}]), encoding="utf-8")
    command = [sys.executable, "-m", "hermes_jupyter.testing.scripted_server", str(script)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        url = process.stdout.readline().strip()
        asked = ask(url, [user("a")])
        assert (asked.reply.reasoning, asked.reply.text) == ("Hm.", "Hi.")
        assert [delta.text for delta in asked.deltas][-3:] == ["H", "i", "."]
        assert (asked.reply.calls[0].name, asked.reply.calls[0].arguments) == ("todo", "{}")
        with pytest.raises(ModelError, match="later"):
            ask(url, [user("a"), assistant()])
        process.stdin.close()
        assert process.wait(10) == 0
