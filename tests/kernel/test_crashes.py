"""``kill -9`` of a kernel in random places of a turn that edits files.

In the next kernel the conversation opens, each of its calls has one result, all stands in it that
the page was shown, and ``%hermes continue`` goes on with it: no effect happens twice.
"""

from __future__ import annotations

import html
import os
import random
import re
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from zygote import Zygote

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import StepFinished, TextStreamed, ToolCallFinished, ToolCallStarted
from hermes_jupyter.going_on import GO_ON
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import ScriptedServer, conversation
from hermes_jupyter.views.words import short_args

CRASHES = int(os.environ.get("CRASHES", "50"))
SEED = 11
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
SCRIPT = (
    conversation("^build", *WORK, delay=0.0005),
    conversation("Go on with", ("I look.", call("read_file", path="log.txt")), "It is done."),
)
ALL = Counter(["first", "second", "third"])
NOTHING = "nothing to go on with"
STORIES = 10
"""So many go on in one kernel."""
LENGTH = 100
"""About as many messages does the page get."""
TEXT = re.compile(r'<div class="jp-RenderedHTMLCommon hermes-text">(.*)</div>', re.DOTALL)
CARD = re.compile(
    r'hermes-is-(\w+)".*?"hermes-name">([^<]*)</span><span class="hermes-short">([^<]*)', re.DOTALL
)
ENDED = {"ok", "error", "denied", "timeout", "interrupted"}


class Story:
    """One notebook: its turn is killed in one kernel and gone on with in another."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.notebook = folder, str(folder / "story.ipynb")
        folder.mkdir()
        (folder / "a.txt").write_text("a\n")
        self.texts: list[str] = []
        self.cards: set[tuple[str, str, str]] = set()

    def open_in(self, kernel: Any) -> None:
        """Load the extension as the kernel of this notebook does."""
        settings = {"JPY_SESSION_NAME": self.notebook}
        kernel.run(
            f"import os; os.environ.update({settings!r}); os.chdir({str(self.folder)!r})\n"
            "get_ipython().run_line_magic('load_ext', 'hermes_jupyter')\n"
            "get_ipython().run_line_magic('config', 'Hermes.frontend = \"widget\"')"
        )

    def begin(self, kernel: Any) -> None:
        kernel.forget()
        kernel.execute("%%agent --approve off -t file,terminal\nbuild")

    def note_what_was_shown(self, kernel: Any) -> None:
        for message in list(kernel.published):
            data = message["content"].get("data")
            value = data.get("state", {}).get("value") if isinstance(data, dict) else None
            if isinstance(value, str):
                self.texts += [_plain(text) for text in TEXT.findall(value)]
                self.cards.update(CARD.findall(value))

    def is_stored(self, home: Path) -> bool:
        """Whether its turn has begun on disk; all that was shown must stand there."""
        sessions = Sessions(home)
        found = sessions.of_notebook(self.notebook, "main")
        events = [event for _, event in sessions.history(found[0])] if found else []
        sessions.close()
        said = [_plain(e.text) for e in events if isinstance(e, StepFinished | TextStreamed)]
        for text in self.texts:
            assert any(each.startswith(text) for each in said), (text, said)
        started = {_names(e.call) for e in events if isinstance(e, ToolCallStarted)}
        ended = {_names(e.result.call) for e in events if isinstance(e, ToolCallFinished)}
        for state, *names in self.cards:
            assert state != "running" or tuple(names) in started, (names, started)
            assert state not in ENDED or tuple(names) in ended, (names, ended)
        return bool(found)

    def effects(self) -> Counter[str]:
        log = self.folder / "log.txt"
        return Counter(log.read_text().split()) if log.exists() else Counter()


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def _names(wanted: ToolCall) -> tuple[str, str]:
    return html.escape(wanted.name), html.escape(short_args(wanted, 200))


def check_transcript(messages: list[Any]) -> None:
    """Every call has one result, right behind it, and nobody speaks twice in a row."""
    waiting: list[str] = []
    before = ""
    for message in messages:
        role = message["role"]
        if role == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, messages
            assert role != before, messages
            waiting = [each["id"] for each in message.get("tool_calls") or ()]
        before = role
    assert not waiting


def unknown_in(messages: list[Any]) -> int:
    told = [str(m["content"]) for m in messages if m["role"] == "tool"]
    return sum("unknown whether it ran" in text for text in told)


@pytest.fixture
def world(tmp_path):
    """Starts kernels that ask the scripted model; and its server, its home, its folder."""
    with ExitStack() as stack:
        server = stack.enter_context(ScriptedServer(*SCRIPT))
        env = {
            "HERMES_HOME": str(tmp_path / "home"), "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "", "IPYTHONDIR": str(tmp_path / "ipython"),
        }  # fmt: skip
        folder = tmp_path / "work"
        folder.mkdir()
        zygote = Zygote(folder, env)
        stack.callback(zygote.close)
        yield zygote, server, tmp_path / "home", folder


class Readers:
    """The kernels in which stories go on; each serves a few, one after the other."""

    def __init__(self, zygote: Zygote) -> None:
        self._zygote, self._stack, self._served = zygote, ExitStack(), 0
        self._next = zygote.fork()

    def take(self) -> Any:
        if self._served % STORIES == 0:
            self._stack.close()
            self._front = self._stack.enter_context(self._next.connected())
            self._stack.callback(self._next.kill)
            self._next = self._zygote.fork()
        self._served += 1
        return self._front

    def close(self) -> None:
        self._stack.close()


def tell(zygote: Zygote, victim: Any, story: Story, chance: random.Random) -> str:
    """Let a kernel begin the turn, and kill it somewhere; how far it was."""
    place, more = chance.randrange(1, LENGTH), chance.choice([0, 0.002, 0.01, 0.03])
    with victim.connected() as front:
        story.open_in(front)
        story.begin(front)
        front.until(lambda: len(front.published) >= place or front.replies, "the place")
        time.sleep(more)
        victim.kill()
        story.note_what_was_shown(front)
        return "over" if front.replies else "calls" if story.cards else "begun"


def go_on(front: Any, story: Story, server: ScriptedServer) -> list[Any]:
    """``%hermes continue`` in another kernel; what the model read at last, if there was need."""
    story.open_in(front)
    front.forget()
    before = len(server.requests)
    request = front.execute("%hermes continue")
    went_on = front.status(request) == "ok"
    again = front.execute("%hermes continue")
    assert front.status(again) == "error"
    assert NOTHING in str(front.replies[again]["content"]["traceback"])
    if went_on:
        assert front.record(request)["application/vnd.hermes.turn+json"]["status"] == "done"
    else:
        assert NOTHING in str(front.replies[request]["content"]["traceback"])
        assert len(server.requests) == before
    front.run("%unload_ext hermes_jupyter")
    return server.requests[-1][1]["messages"] if went_on else []


@pytest.mark.timeout(600)
def test_kill_9_of_a_kernel_loses_nothing_shown_and_continue_repeats_nothing(world):
    zygote, server, home, folder = world
    chance = random.Random(SEED)
    states: Counter[str] = Counter()
    readers, victim = Readers(zygote), zygote.fork()
    for number in range(CRASHES):
        story = Story(folder / str(number))
        following = zygote.fork()
        states[tell(zygote, victim, story, chance)] += 1
        victim = following

        messages = go_on(readers.take(), story, server)
        stored = story.is_stored(home)
        check_transcript(messages)
        states["unknown"] += unknown_in(messages) > 0
        users = [m["content"] for m in messages if m["role"] == "user"]
        went_on = bool(users) and users[-1].endswith(GO_ON)
        states["went on" if went_on else "began anew" if users else "had ended"] += 1
        assert bool(users) <= stored
        made = story.effects()
        assert max(made.values(), default=1) == 1, made
        if not went_on:  # all of it, by the one or the other; or it was killed before it began
            assert made == (ALL if stored else Counter())
    readers.close()
    print(dict(states))
    assert states["unknown"] or CRASHES < 20, "no crash came while a call ran"
    assert states["went on"] > CRASHES // 2
