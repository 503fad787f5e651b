"""The server extension: an answer from elsewhere, the pass-through, and what loading it costs."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hermes_jupyter.server.kernels import Kernels
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation
from tests.benchmarks.rows import Row, spread

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "server"), str(TESTS / "kernel")]

import served  # noqa: E402
import stand_ins  # noqa: E402

KERNELS, LISTS = 50, 50
ANSWERS = 100
ASKS = 100
MARK = """
import time
from tools.registry import registry
from tools.safety import Objection
began = []
def mark(args, **context):
    began.append(time.monotonic())
    return 'marked'
registry.register('mark', 'mine', {'description': 'x'}, mark,
    guard_fn=lambda args: Objection(reason='marks', shown='mark', grant='this mark'))
"""
MODEL = (
    conversation("mark", *((call("mark", number=n),) for n in range(ANSWERS)), "done"),
    conversation("", "One word, and another."),
)
LOAD = """
import sys, time, jupyter_server.serverapp
before, began = set(sys.modules), time.process_time()
import hermes_jupyter.server
from hermes_jupyter.server import extension, routing
print(1e3 * (time.process_time() - began), len(set(sys.modules) - before))
"""


def rows() -> Iterator[Row]:
    yield _loading()
    yield asyncio.run(_many())
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(*MODEL) as model:
        (Path(folder) / "config").mkdir()
        (Path(folder) / "config" / "jupyter_server_config.py").write_text(
            f"c.HermesServer.models = [{{'name': 'm', 'base_url': {model.url!r}, 'key': 'sk-x'}}]\n"
        )
        server = served.Server(Path(folder), {})
        try:
            with served.kernel_of(server, OPENAI_BASE_URL=model.url) as kernel:
                yield from _answers(kernel)
                yield _passed(kernel, model)
        finally:
            server.close()


def _loading() -> Row:
    ran = [
        subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    samples = [[*map(float, each.stdout.split())] for each in ran]
    cpu = sorted(sample[0] for sample in samples)[len(samples) // 2]
    return Row(
        what="server extension: CPU time of loading it",
        value=cpu,
        unit="ms",
        target=50,
        detail=f"median of {len(samples)}, {samples[0][1]:.0f} modules",
    )


async def _many() -> Row:
    """What waits in fifty kernels, each of which only answers."""

    async def names() -> dict[str, str]:
        return {}

    with stand_ins.Manager(*["pending"] * KERNELS) as manager:
        there = Kernels(manager, names)
        await there.pending()
        samples = []
        for _ in range(LISTS):
            began = time.monotonic()
            told = await there.pending()
            samples.append(time.monotonic() - began)
        there.close()
    answered = sum(each["state"] == "answers" for each in told)
    spreads = spread(samples, 1e3)
    return Row(
        what=f"what waits in {KERNELS} kernels, listed, p99",
        value=spreads.p99,
        unit="ms",
        target=500,
        detail=f"{answered} answered; {spreads.detail('ms')}",
    )


def _answers(kernel: Any) -> Iterator[Row]:
    """Half over the server's route, half on the control channel, as JupyterLab's panel does."""
    front = kernel.front
    front.run(MARK)
    front.run("%config Hermes.max_steps = 1000")
    front.run("%%agent --background\nmark")
    asleep = front.execute("import time\nprint('asleep', flush=True)\ntime.sleep(120)")
    front.until_text("asleep")
    sent: list[float] = []
    for number in range(ANSWERS):
        request = _asked(front, number)
        about = {"request": request["id"], "digest": request["digest"], "choice": "once"}
        sent.append(time.monotonic())
        if number % 2:
            front.control("hermes_request", {"protocol": 1, "do": "answer", **about})
        else:
            kernel.server.hermes(f"api/kernels/{kernel.id}/answer", about)
    front.until(lambda: _ended(front), "the end of the turn", 60)
    kernel.server.ask("POST", f"api/kernels/{kernel.id}/interrupt", b"")
    front.status(asleep)
    began = json.loads(front.run("import json; print(json.dumps(began))"))
    delays = [there - here for here, there in zip(sent, began, strict=True)]
    for what, found in (
        ("answer over the server -> tool starts, main thread asleep, p99", delays[::2]),
        ("answer on the control channel -> tool starts, main thread asleep, p99", delays[1::2]),
    ):
        told = spread(found, 1e3)
        yield Row(what=what, value=told.p99, unit="ms", target=150, detail=told.detail("ms"))


def _asked(front: Any, number: int) -> Any:
    def found() -> list[Any]:
        events = [m["content"] for m in [*front.published] if m["msg_type"] == "hermes_event"]
        return [event["request"] for event in events if event["event"] == "asked"]

    return front.until(lambda: found()[number : number + 1], "a request", 30)[0]


def _ended(front: Any) -> bool:
    events = [m["content"] for m in [*front.published] if m["msg_type"] == "hermes_event"]
    return any(event.get("turn", {}).get("state") == "done" for event in events)


def _passed(kernel: Any, model: ScriptedServer) -> Row:
    """The first token of an answer: straight from the provider, and through the server."""
    kernel.front.run("%hermes model --via-server")
    token = kernel.front.run(
        "from hermes_jupyter.api import desktop; print(desktop().hermes.settings.api_key)"
    ).strip()
    body = json.dumps(
        {
            "model": "m",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": "word " * 4_000}],
        }
    ).encode()
    straight, through = [], []
    for _ in range(ASKS):  # in turns, so that both meet the same machine
        straight.append(_first_token(model.url, "sk-x", body))
        through.append(_first_token(f"{kernel.server.url}hermes/v1", token, body))
    there, more = spread(straight, 1e3), spread(through, 1e3)
    return Row(
        what="pass-through: more to the first token, median",
        value=more.median - there.median,
        unit="ms",
        target=5,
        detail=f"straight {there.detail('ms')}; through {more.detail('ms')}",
    )


def _first_token(url: str, key: str, body: bytes) -> float:
    parts = urlsplit(f"{url}/chat/completions")
    there = http.client.HTTPConnection(parts.netloc, timeout=20)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    there.connect()
    began = time.monotonic()
    there.request("POST", parts.path, body, headers)
    answer = there.getresponse()
    answer.readline()
    seconds = time.monotonic() - began
    answer.read()
    there.close()
    return seconds
