"""``kill -9`` in random places of a turn that edits files: nothing shown is lost, nothing repeated.

The dead process leaves a conversation that opens, in which each call has one result, and in which
all stands that was shown. The next turn goes on with it and does nothing twice.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hermes_jupyter.events import StepFinished, TextStreamed, ToolCallFinished, ToolCallStarted
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation

CRASHES = int(os.environ.get("CRASHES", "50"))
SEED = 20
WORK = (
    ("I look at what is there, then I write. " * 2, call("read_file", path="a.txt")),
    (
        "Now a file, and then a command. " * 2,
        call("write_file", path="b.txt", content="one\ntwo\n"),
        call("terminal", command="echo first >> log.txt; sleep 0.02; echo said"),
    ),
    (
        "One more change, and two more lines. " * 2,
        call("patch", mode="replace", path="b.txt", old_string="two", new_string="three"),
        call("terminal", command="echo second >> log.txt"),
        call("terminal", command="echo third >> log.txt; sleep 0.02"),
    ),
    "All is built, and the log has three lines. " * 2,
)
LENGTH = 56
"""About as many events does the turn show."""


class Victims:
    """Starts turns, and kills them."""

    def __init__(self, **common: str) -> None:
        self._common = common
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("crash_victim.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, notebook: str, prompt: str, *, until: int = 10**9, wait: float = 0) -> list[Any]:
        """Run a turn, and kill it when it has shown so much; what it had shown."""
        assert self._process.stdin
        about = {**self._common, "notebook": notebook, "prompt": prompt}
        self._process.stdin.write(json.dumps(about) + "\n")
        self._process.stdin.flush()
        shown: list[Any] = []
        child = 0
        while "dead" not in (told := self._line()):
            if "child" in told:
                child = told["child"]
                continue
            shown.append(told)
            self._process.stdin.write("\n")  # the child waits for it: it is no further than this
            self._process.stdin.flush()
            if len(shown) == until:
                time.sleep(wait)
                with suppress(ProcessLookupError):  # it was quicker, and is done
                    os.kill(child, signal.SIGKILL)
        return shown

    def _line(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=30)


def check_transcript(messages: list[Any]) -> None:
    """Every call has one result, right behind it."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, messages
            waiting = [each["id"] for each in message.get("tool_calls") or ()]
    assert not waiting
    assert messages[-1]["role"] == "assistant"


def check_shown(shown: list[Any], events: list[Any]) -> None:
    """All that was shown is stored."""
    texts, step = [""], 0
    for told in shown:
        if told["event"] == "StepStarted":
            texts.append("")
            step += 1
        elif told["event"] == "TextStreamed":
            texts[-1] += told["text"]
    stored = [e.text for e in events if isinstance(e, StepFinished | TextStreamed)]
    for text in filter(None, texts):
        assert any(each.startswith(text) for each in stored), (text, stored)
    started = {event.call.id for event in events if isinstance(event, ToolCallStarted)}
    finished = {event.result.call.id for event in events if isinstance(event, ToolCallFinished)}
    for told in shown:
        assert told["event"] != "ToolCallStarted" or told["call"] in started
        assert told["event"] != "ToolCallFinished" or told["call"] in finished


def effects(folder: Path) -> Counter[str]:
    log = folder / "log.txt"
    return Counter(log.read_text().split()) if log.exists() else Counter()


@pytest.mark.timeout(600)
def test_kill_9_anywhere_loses_nothing_that_was_shown_and_repeats_nothing(tmp_path):
    chance = random.Random(SEED)
    home, folder = tmp_path / "home", tmp_path / "work"
    folder.mkdir()
    script = (
        conversation("build", *WORK, delay=0),
        conversation("go on", ("I look.", call("read_file", path="log.txt")), "It is done."),
    )
    states: Counter[str] = Counter()
    with ScriptedServer(*script) as server:
        victims = Victims(home=str(home), folder=str(folder), url=server.url)
        for number in range(CRASHES):
            for name in ("b.txt", "log.txt"):
                (folder / name).unlink(missing_ok=True)
            (folder / "a.txt").write_text("a\n")
            notebook = str(tmp_path / f"{number}.ipynb")
            place, wait = chance.randrange(1, LENGTH), chance.choice([0, 0, 0.001, 0.004, 0.015])
            shown = victims.run(notebook, "build", until=place, wait=wait)
            assert not [told for told in shown if "error" in told]
            before = effects(folder)
            states[shown[-1]["event"]] += 1

            sessions = Sessions(home)
            about = sessions.of_notebook(notebook, "main")[0]
            reopened = sessions.reopen(about.id)
            if len(reopened.transcript) > 1:
                check_transcript(reopened.transcript)
            check_shown(shown, [event for _, event in sessions.history(about)])
            answers = [m["content"] for m in reopened.transcript if m["role"] == "tool"]
            unknown = sum("unknown whether it ran" in answer for answer in answers)
            states["unknown"] += unknown
            told = [m for m in reopened.transcript if "echo" in json.dumps(m.get("tool_calls"))]
            assert sum(before.values()) <= sum(len(m["tool_calls"]) for m in told)
            reopened.journal.close()
            sessions.close()

            after = victims.run(notebook, "go on")
            assert after[-1]["event"] == "TurnFinished", after[-3:]
            assert effects(folder) == before
            assert max(before.values(), default=1) == 1
            sent = json.loads(json.dumps(server.requests[-1][1]["messages"]))
            check_transcript([*sent, {"role": "assistant", "content": ""}])
        victims.close()
    print(dict(states))
    assert states["unknown"] or CRASHES < 20, "no crash came while a call ran"
