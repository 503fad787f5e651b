"""Models through the server: kernels ask them, and never see the key."""

import http.client
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from keyrings.alt import file
from served import BASE, Server, kernel_of

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

KEY = "sk-live-of-the-server-0123456789abcdef"
PROMPT = "a sentence that no log may hold"


@pytest.fixture(scope="module")
def model():
    with ScriptedServer(
        conversation("look", (call("terminal", command="env; cat /proc/$PPID/environ"),), "Seen."),
        conversation("long", "word " * 4_000, delay=0.005),
        conversation("", "Hello from behind the server."),
    ) as model:
        yield model


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    """A server of its own: with a key, two models, and limits. It hides keys without being told."""
    folder = tmp_path_factory.mktemp("models")
    keyring = file.PlaintextKeyring()
    keyring.file_path = str(folder / "python_keyring" / "keyring_pass.cfg")
    keyring.set_password("hermes", "dear", KEY)
    (folder / "config").mkdir()
    (folder / "config" / "jupyter_server_config.py").write_text(
        "c.HermesServer.models = [\n"
        f"    {{'name': 'small', 'base_url': {model.url!r}, 'key_env': 'MY_MODEL_KEY',\n"
        "     'model': 'scripted'},\n"
        f"    {{'name': 'dear', 'base_url': {model.url!r}, 'keyring': 'hermes',\n"
        "     'model': 'scripted'},\n"
        "]\n"
        "c.HermesServer.prices = {'small': {'input': 1.0, 'output': 1.0},\n"
        "                         'dear': {'input': 1e9, 'output': 1e9}}\n"
        "c.HermesServer.max_cost_per_day = 1.0\n"
        "c.HermesServer.hidden_variables = ['SECRET_*']\n"
    )
    env = {
        "MY_MODEL_KEY": KEY, "COPY_X": f"Bearer {KEY}", "SECRET_X": "hidden", "PLAIN_X": "shown",
        "PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring",
        "XDG_DATA_HOME": str(folder),
    }  # fmt: skip
    running = Server(folder, env)
    yield running
    running.close()


@pytest.fixture(scope="module")
def kernel(server):
    with kernel_of(server) as kernel:
        yield kernel


def token_of(kernel):
    """What the kernel has got; a test may look, and so may any code in it."""
    return kernel.front.run(
        "from hermes_jupyter.api import desktop; print(desktop().hermes.settings.api_key)"
    ).strip()


def asked(server, token, model="small", path="chat/completions", **body):
    told = {"model": model, "messages": [{"role": "user", "content": PROMPT}], **body}
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return server.ask("POST", f"hermes/v1/{path}", told, token="", headers=headers)


def test_a_kernel_without_a_key_asks_through_the_server(kernel, model):
    """Without a setting: the server has said so when it started the kernel."""
    said = kernel.front.run("%hermes status")
    assert "the first of the server, through the Jupyter server" in said
    cell = kernel.front.execute(f"%%agent\n{PROMPT}")
    assert kernel.front.status(cell) == "ok"
    assert "Hello from behind the server." in str(kernel.front.of(cell))
    assert "small through the Jupyter server" in kernel.front.run("%hermes model")
    said = kernel.front.run("%hermes doctor", timeout=60)
    page = f"{BASE}hermes/ at the address of this page"  # a hub's users have no other
    assert f"{page} lists what waits, and has the key of the model" in said


def test_neither_the_kernel_nor_the_agents_code_sees_the_key(kernel):
    cell = kernel.front.execute("%config Hermes.approvals = 'off'\n%hermes look around")
    assert kernel.front.status(cell) == "ok"
    said = kernel.front.run("import os; print(dict(os.environ))")
    assert "'PLAIN_X': 'shown'" in said
    for hidden in (KEY, "MY_MODEL_KEY", "COPY_X", "SECRET_X"):
        assert hidden not in said
    assert KEY not in str(kernel.front.published)
    kernel.front.run("%config Hermes.approvals = ''")


def children(server):
    """The environments of the processes that the server has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if f"PPid:\t{server.process.pid}\n" in status.read_text():
                found.append((status.parent / "environ").read_text())
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
    return found


def test_neither_a_kernel_nor_a_terminal_has_the_key_in_its_environment(kernel, server):
    assert server.ask("POST", "api/terminals", {}).status == 200
    found = children(server)
    assert sum("JUPYTER_SERVER_ROOT=" in each for each in found) == 1
    assert sum("HERMES_SERVER_URL=" in each for each in found) == 1
    assert all("PLAIN_X=shown" in each for each in found)
    for hidden in (KEY, "MY_MODEL_KEY=", "COPY_X=", "SECRET_X="):
        assert not any(hidden in each for each in found)


def test_the_provider_gets_the_key_and_the_name_that_it_knows(kernel, model, server):
    assert asked(server, token_of(kernel)).status == 200
    assert model.keys[-1] == f"Bearer {KEY}"
    assert model.requests[-1][1]["model"] == "scripted"


def test_an_answer_streams_through(kernel, server):
    answer = asked(server, token_of(kernel), stream=True)
    assert answer.headers["Content-Type"] == "text/event-stream"
    frames = [line for line in answer.body.split(b"\n") if line.startswith(b"data: {")]
    assert len(frames) > 2
    assert b"usage" in frames[-1]


def test_who_goes_away_is_not_answered_any_more(kernel, server, model):
    """A stop in the notebook ends the call at the provider, too."""
    model.abandoned.clear()
    there = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    body = {"model": "small", "stream": True, "messages": [{"role": "user", "content": "long"}]}
    headers = {"Authorization": f"Bearer {token_of(kernel)}"}
    there.request("POST", f"{BASE}hermes/v1/chat/completions", json.dumps(body), headers)
    answer = there.getresponse()
    answer.readline()
    there.sock.shutdown(socket.SHUT_RDWR)
    answer.close()
    there.close()
    assert model.abandoned.wait(20)
    server.wait_for(lambda: "asked small (chat): ended" in server.log.read_text(), "the log")


@pytest.mark.parametrize("token", ["", "wrong", "hermes-lease-forged", "a-token-of-the-tests"])
def test_no_other_token_opens_it(kernel, server, token):
    for path in ("chat/completions", "responses"):
        refused = asked(server, token, path=path)
        assert refused.status == 401
        assert refused.json["error"]["message"].endswith(": %hermes model --via-server")
    headers = {"Authorization": f"Bearer {token}"}
    assert server.ask("GET", "hermes/v1/models", token="", headers=headers).status == 401


def test_a_kernels_token_opens_nothing_else(kernel, server):
    token = token_of(kernel)
    assert token.startswith("hermes-lease-")
    for path in ("hermes/api/pending", "hermes/api/sessions", "api/kernels"):
        assert server.ask("GET", path, token=token).status in (401, 403)


def test_a_model_that_is_not_offered_is_refused(kernel, server):
    answer = asked(server, token_of(kernel), model="gpt-5.4")
    assert answer.status == 404
    assert "small, dear" in answer.json["error"]["message"]


def test_a_budget_ends_before_the_next_call(kernel, server):
    with kernel_of(server) as other:
        other.front.run("%hermes model --via-server dear")
        token = token_of(other)
        assert asked(server, token, model="dear").status == 200
        spent = asked(server, token, model="dear")
        assert spent.status == 402
        assert "max_cost_per_day" in spent.json["error"]["message"]
        assert asked(server, token_of(kernel)).status == 200  # another kernel has its own
        cell = other.front.execute("%%agent\nhello")
        assert other.front.status(cell) == "error"
        assert "used up" in str(other.front.published)
    assert asked(server, token).status == 401  # its kernel is gone


def test_a_knock_tells_a_stranger_nothing(kernel, server):
    before = token_of(kernel)
    for name in (kernel.id, "no-such-kernel"):
        answer = server.ask("POST", "hermes/knock", {"kernel": name, "nonce": "n"}, token="")
        assert (answer.status, answer.body) == (202, b"{}")
    assert asked(server, before).status == 200
    assert token_of(kernel) == before


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"kernel": 1, "nonce": 2}', b"x" * 2000])
def test_a_knock_that_is_none_is_refused(server, body):
    assert server.ask("POST", "hermes/knock", body, token="").status in (400, 413)


def test_what_was_used_is_told_and_kept(kernel, server):
    told = server.hermes("api/usage").json["via_server"]
    own = [each for each in told if each["kernel"] == kernel.id]
    assert own[0]["calls"] > 0
    assert own[0]["read"] > 0
    kept = json.loads((server.home / "jupyter" / "server-usage.json").read_text())
    assert kernel.id in next(iter(kept.values()))


def test_nothing_that_was_said_is_logged(server, kernel):
    assert asked(server, token_of(kernel)).status == 200
    log = server.log.read_text()
    assert f"kernel {kernel.id} asked small (chat): done" in log
    assert PROMPT not in log
    assert KEY not in log


def test_a_restart_ends_the_token(server, kernel):
    """The last one: the kernel has nothing loaded afterwards."""
    token = token_of(kernel)
    assert asked(server, token).status == 200
    assert server.ask("POST", f"api/kernels/{kernel.id}/restart", b"").status == 200
    assert asked(server, token).status == 401
