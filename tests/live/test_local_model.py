"""The embedded model does small tasks with the real tools. Takes minutes and two gigabytes.

The tasks are those that it passed in every run when it was measured; it is a small model.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from hermes_jupyter.agent.models.local import LocalServer, installed
from tools.registry import registry

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
TOOLS = ("read_file", "write_file", "terminal", "search_files")
SYSTEM = "You are Hermes, an agent in a Jupyter notebook. You work with tools and are brief."
DENIED = '{"error": "Denied: the user said no. It was not run.", "status": "denied"}'


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest) -> Iterator[openai.OpenAI]:
    if not request.config.getoption("--live", default=False):
        pytest.skip("needs --live")
    if installed() is None:
        pytest.skip('needs pip install "hermes-jupyter[local]"')
    for name in TOOLS:
        importlib.import_module(f"tools.{name}_tool")
    server = LocalServer()
    endpoint = asyncio.run(server.start(lambda text: None))
    with openai.OpenAI(
        base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, timeout=300
    ) as client:
        yield client
    server.stop()


def work(client: openai.OpenAI, folder: Path, prompt: str, *, deny: str = "") -> tuple[str, Any]:
    """Run a plain loop; return the answer and the calls. `deny` is a pattern of commands."""
    tools = [{"type": "function", "function": registry.get_schema(name)} for name in TOOLS]
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": prompt},
    ]
    calls = []
    for _ in range(6):
        message = (
            client.chat.completions.create(model="local", messages=messages, tools=tools)
            .choices[0]
            .message
        )
        if not message.tool_calls:
            return message.content or "", calls
        (call,) = message.tool_calls
        args = json.loads(call.function.arguments)
        calls.append((call.function.name, args))
        denied = deny and re.search(deny, args.get("command", ""))
        result = DENIED if denied else registry.dispatch(call.function.name, args, cwd=str(folder))
        messages.append(message.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    pytest.fail(f"no answer after {calls}")


@pytest.mark.parametrize(
    ("file", "content", "prompt", "expected"),
    [
        ("notes.txt", "The meeting is on Thursday at 14:30.\n",
         "When is the meeting? It is in notes.txt.", "14:30"),
        ("setup.cfg", "name = kiwi\nversion = 3.7.2\n",
         "Which version does setup.cfg say?", "3.7.2"),
        ("app.log", "INFO start\nERROR disk full\nINFO stop\n",
         "What error does app.log report?", "disk full"),
        ("todo.txt", "1. water plants\n2. pay rent\n3. call dentist\n",
         "What is the second item in todo.txt?", "pay rent"),
        ("fruits.txt", "plum: blue\nkiwi: green inside\n",
         "Which file mentions kiwi?", "fruits.txt"),
    ],
)  # fmt: skip
def test_questions_about_files_are_answered_from_the_files(
    client, tmp_path, file, content, prompt, expected
):
    (tmp_path / file).write_text(content)
    answer, calls = work(client, tmp_path, prompt)
    assert expected in answer
    assert calls


@pytest.mark.parametrize("prompt", ["Hi! How are you today?", "What is the capital of France?"])
def test_no_tool_is_used_for_small_talk(client, tmp_path, prompt):
    answer, calls = work(client, tmp_path, prompt)
    assert answer
    assert calls == []


def test_a_script_is_written_and_run(client, tmp_path):
    prompt = 'Write a Python script hello.py that prints "hello world" and run it.'
    answer, calls = work(client, tmp_path, prompt)
    assert [name for name, _ in calls] == ["write_file", "terminal"]
    assert "hello world" in answer


def test_a_file_is_deleted(client, tmp_path):
    (tmp_path / "old.log").write_text("x")
    work(client, tmp_path, "Delete old.log.")
    assert not (tmp_path / "old.log").exists()


def test_a_denied_command_is_reported_and_not_tried_again(client, tmp_path):
    (tmp_path / "old.log").write_text("x")
    answer, calls = work(client, tmp_path, "Delete old.log.", deny=r"\brm\b")
    assert len(calls) == 1
    assert re.search("denied|not (been )?(deleted|removed)", answer)
