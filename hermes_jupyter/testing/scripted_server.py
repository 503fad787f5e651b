"""An OpenAI-compatible endpoint that plays scripts, for a client in any process.

``python -m hermes_jupyter.testing.scripted_server SCRIPT.json`` prints its address as the first
line and serves until its standard input is closed. The file holds a list of conversations::

    [
      {"match": "delete", "steps": [
        {"text": "I look first.", "calls": [{"name": "list_files", "args": {"path": "."}}]},
        "Two files are there."
      ]},
      {"steps": [{"text": "Hello.", "delay": 0.01}]}
    ]

The first conversation whose ``match`` (a regular expression, "" by default) is found in the last
message of the user, behind what it says of the cells above, is played. Which of its steps, the
assistant's messages after that message tell, so that many cells and turns can share one server. A
step is a text or an object with

- ``text``, ``reasoning``, ``delay`` (seconds per character);
- ``calls``, each with ``name`` and ``args``, or ``arguments`` as literal text;
- or ``error`` with ``status``, ``message`` and maybe ``retry_after``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.models.base import Delta, Message, RawCall, Reply
from hermes_jupyter.agent.pictures import OF_RESULTS
from hermes_jupyter.testing.scripts import Script, as_reply
from hermes_jupyter.testing.stub_server import Exchange, StubServer
from hermes_jupyter.testing.writers import messages_in, write

MODEL = "scripted"
CELLS_END = "</notebook_cells>"
"""What a prompt says of the cells above ends with this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A step that answers with an error."""

    status: int
    message: str = "scripted error"
    retry_after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One reply, and its pace."""

    reply: Reply | Refusal
    delay: float = 0.0
    """Seconds per character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Steps for the turns whose prompt matches."""

    match: str = ""
    steps: tuple[Step, ...] = ()


def conversation(match: str, *replies: Script, delay: float = 0.0) -> Conversation:
    """Replies, as `ScriptedModel` takes them, for the prompts that match."""
    steps = [Step(reply=as_reply(reply, n), delay=delay) for n, reply in enumerate(replies, 1)]
    return Conversation(match=match, steps=tuple(steps))


class ScriptedServer(StubServer):
    """Plays conversations; plain replies make one that any prompt matches.

    Examples
    --------
    >>> with ScriptedServer((call("read_file", path="a"),), "It is empty.") as server:
    ...     model = OpenAIModel("scripted", base_url=server.url)
    """

    def __init__(self, *script: Script | Conversation) -> None:
        given = [part for part in script if isinstance(part, Conversation)]
        replies = [part for part in script if not isinstance(part, Conversation)]
        self._conversations = [*given, conversation("", *replies)] if replies else given
        super().__init__(self._play)

    def _play(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            exchange.send_json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            return
        step = self._step(messages_in(exchange))
        if isinstance(step, str):
            exchange.send_error(400, step)
        elif isinstance(step.reply, Refusal):
            _refuse(exchange, step.reply)
        else:
            write(exchange, step.reply, step.delay)

    def _step(self, messages: Sequence[Message]) -> Step | str:
        """The step to play, or why there is none."""
        prompt, number = _place(messages)
        for candidate in self._conversations:
            if re.search(candidate.match, prompt):
                if number < len(candidate.steps):
                    return candidate.steps[number]
                return f"the script for {prompt[:60]!r} has no step {number + 1}"
        return f"no conversation of the script matches {prompt[:60]!r}"


def _place(messages: Sequence[Message]) -> tuple[str, int]:
    """The last prompt, and how many messages of the assistant came after it."""
    after = 0
    for message in reversed(messages):
        if message["role"] == "user" and not _text(message["content"]).startswith(OF_RESULTS):
            return _text(message["content"]).rpartition(CELLS_END)[2].lstrip("\n"), after
        after += message["role"] == "assistant"
    return "", after


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _refuse(exchange: Exchange, refusal: Refusal) -> None:
    headers = {"retry_after": refusal.retry_after} if refusal.retry_after else {}
    exchange.send_error(refusal.status, refusal.message, **headers)


def read_script(source: str) -> list[Conversation]:
    """The conversations of a script file."""
    return [
        Conversation(
            match=part.get("match", ""),
            steps=tuple(_read_step(step, n) for n, step in enumerate(part["steps"], 1)),
        )
        for part in json.loads(source)
    ]


def _read_step(step: Any, number: int) -> Step:
    step = {"text": step} if isinstance(step, str) else step
    if "error" in step:
        return Step(reply=Refusal(**step["error"]))
    parts = [Delta("reasoning", step.get("reasoning", "")), step.get("text", "")]
    parts += [_read_call(call) for call in step.get("calls", ())]
    return Step(reply=as_reply(parts, number), delay=step.get("delay", 0.0))


def _read_call(call: dict[str, Any]) -> RawCall:
    arguments = call.get("arguments")
    if arguments is None:
        arguments = json.dumps(call.get("args", {}), ensure_ascii=False)
    return RawCall(id="", name=call["name"], arguments=arguments)


def main(path: str) -> None:
    """Serve the script in ``path`` until standard input is closed."""
    script = read_script(Path(path).read_text(encoding="utf-8"))
    with ScriptedServer(*script) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
