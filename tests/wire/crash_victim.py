"""Runs turns in processes that are made to be killed.

It reads lines of JSON: ``home``, ``folder``, ``url``, ``notebook``, ``prompt``. For each it forks,
so that nothing has to be imported anew, and says the child's id. The child tells every event that
its views have been shown, one line each, and waits for a sign in return. When it is dead, a line
says so.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import openai

from hermes_jupyter.events import (
    Event,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
    ToolCallStarted,
)
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions
from tools.async_bridge import loop_thread
from tools.discovery import discover_builtin

# What a child would have to import.
openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
discover_builtin()


def say(**told: Any) -> None:
    """One write: a line is whole or not there."""
    os.write(1, (json.dumps(told) + "\n").encode())


def show(event: Event) -> None:
    """A view."""
    about: dict[str, Any] = {"event": type(event).__name__}
    match event:
        case TextStreamed(text=text):
            about["text"] = text
        case StepStarted(number=number):
            about["number"] = number
        case ToolCallStarted(call=call):
            about["call"] = call.id
        case ToolCallFinished(result=result):
            about["call"] = result.call.id
    say(**about)
    os.read(0, 1)


def work(home: str, folder: str, url: str, notebook: str, prompt: str) -> None:
    """One turn."""
    os.chdir(folder)
    hermes = Hermes(Settings(home=Path(home), base_url=url, notebook=notebook))
    turn = hermes.turn(
        prompt,
        session=hermes.session(),
        options=TurnOptions(model="scripted", approve="off", tools=("file", "terminal")),
        listeners=[show],
    )
    loop_thread().run(turn)


def line_of_input() -> bytes:
    """Read no further: the rest is for a child."""
    line = b""
    while not line.endswith(b"\n") and (sign := os.read(0, 1)):
        line += sign
    return line


def main() -> None:
    for line in iter(line_of_input, b""):
        if not line.strip():  # what a dead child has not read
            continue
        child = os.fork()
        if child == 0:
            try:
                work(**json.loads(line))
            except BaseException as error:  # noqa: BLE001 - told to the test
                say(error=f"{type(error).__name__}: {error}")
            os._exit(0)
        say(child=child)
        os.waitpid(child, 0)
        say(dead=child)


if __name__ == "__main__":
    main()
