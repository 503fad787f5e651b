"""What it costs to keep conversations: an event on disk, a long one reopened, many searched."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from hermes_jupyter.events import StepFinished, TextStreamed, TurnFinished, TurnStarted
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.schema import SHIFT
from hermes_jupyter.store.sessions.search import search
from hermes_jupyter.store.sessions.transcript import Transcript
from hermes_jupyter.store.sessions.words import query
from tests.benchmarks.rows import Row, spread

MESSAGES = 100_000
SESSIONS = 400
LONG = 10_000
SAMPLES = 15


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        with closing(Sessions(Path(folder, "appends"))) as sessions:
            yield from _appends(sessions)
        with closing(Sessions(Path(folder, "long"))) as sessions:
            yield _reopened(sessions)
        with closing(Sessions(Path(folder, "many"))) as sessions:
            yield from _searched(sessions)


def _appends(sessions: Sessions) -> Iterator[Row]:
    journal = sessions.begin(About("bench"))
    transcript = Transcript(journal)
    journal.hear(TurnStarted(session="s", turn="t", prompt="go", model="m", steps=9))
    pieces = [TextStreamed(text=f"word{number} ") for number in range(3_000)]
    found = spread([_seconds(lambda piece=piece: journal.hear(piece)) for piece in pieces], 1e6)
    yield Row(
        what="a streamed piece on disk", value=found.median, unit="us", target=200,
        detail=found.detail("us"),
    )  # fmt: skip
    journal.hear(StepFinished(number=1, text="whole"))
    texts = [_text() for _ in range(3_000)]
    found = spread(
        [_seconds(lambda text=text: transcript.append({"role": "user", "content": text}))
         for text in texts],
        1e6,
    )  # fmt: skip
    yield Row(
        what="a message on disk", value=found.median, unit="us", target=200,
        detail=found.detail("us"),
    )  # fmt: skip


def _reopened(sessions: Sessions) -> Row:
    journal = sessions.begin(About("long"))
    transcript = Transcript(journal)
    journal.hear(TurnStarted(session="s", turn="t", prompt="go", model="m", steps=9))
    for number in range(LONG // 4):
        call = {"id": f"c{number}", "type": "function",
                "function": {"name": "terminal", "arguments": '{"command": "ls -la"}'}}  # fmt: skip
        transcript.extend(
            [
                {"role": "user", "content": _text()},
                {"role": "assistant", "content": _text(), "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call["id"], "content": _text()},
                {"role": "assistant", "content": _text()},
            ]
        )
    journal.hear(TurnFinished(status="done", text=""))
    samples, cpu = [], []
    for _ in range(SAMPLES):
        journal.close()
        began, worked = time.perf_counter(), time.thread_time()
        reopened = sessions.reopen(journal.id)
        samples.append(time.perf_counter() - began)
        cpu.append(time.thread_time() - worked)
        journal = reopened.journal
        assert len(reopened.transcript) == LONG
    found = spread(samples, 1e3)
    return Row(
        what=f"a conversation of {LONG:,} messages reopened",
        value=found.median,
        unit="ms",
        target=100,
        detail=f"{found.detail('ms')}, CPU {statistics.median(cpu) * 1e3:.0f} ms",
    )


def _searched(sessions: Sessions) -> Iterator[Row]:
    _fill(sessions)
    began = time.perf_counter()
    sessions.tidy()
    indexed = time.perf_counter() - began
    yield Row(
        what="a message taken into the indexes, in the background",
        value=1e6 * indexed / MESSAGES,
        unit="us",
    )
    words = {
        "a rare word": WORDS[7_000],
        "a word in every second message": WORDS[2],
        "three words": f"{WORDS[0]} {WORDS[1]} {WORDS[9]}",
        "a phrase": f'"{WORDS[0]} {WORDS[1]}"',
        "one or other": f"{WORDS[50]} OR {WORDS[3_000]}",
        "inside of words": WORDS[60][1:-1],
        "two characters of Chinese": "数据",
        "one character of Chinese": "析",
        "nothing": "zzzyyyxxxq",
    }
    for what, text in words.items():
        found = spread(
            [_seconds(lambda text=text: search(sessions.database, query(text)))
             for _ in range(SAMPLES)],
            1e3,
        )  # fmt: skip
        count = len(search(sessions.database, query(text)))
        yield Row(
            what=f"{MESSAGES:,} messages searched: {what}", value=found.median, unit="ms",
            target=20, detail=f"{found.detail('ms')}, {count} sessions",
        )  # fmt: skip


def _fill(sessions: Sessions) -> None:
    """Write the conversations directly: through the door of a turn it would take minutes."""
    per_session = MESSAGES // SESSIONS
    with sessions.database.write() as connection:
        for number in range(1, SESSIONS + 1):
            connection.execute(
                "INSERT INTO sessions (number, id, name, created, updated, stale)"
                " VALUES (?, ?, 'main', ?, ?, 1)",
                (number, f"session-{number}", time.time(), time.time() - number),
            )
            connection.executemany(
                "INSERT INTO entries (id, kind, at, text) VALUES (?, ?, 0, ?)",
                [
                    ((number << SHIFT) + place, ("user", "assistant", "tool")[place % 3], _text())
                    for place in range(1, per_session + 1)
                ],
            )


_chance = random.Random(7)
WORDS = [
    "".join(_chance.choices("etaoinshrdlucmfwypvbgkjqxz", k=_chance.randint(2, 10)))
    for _ in range(8_000)
]
_WEIGHTS = [1 / (place + 1) for place in range(len(WORDS))]
_CHINESE = "用数据分析中国人工智能的模型训练结果文件目录测试代码运行错误修复"


def _text() -> str:
    """A message as they are: words of which few are frequent, now and then Chinese."""
    text = " ".join(_chance.choices(WORDS, _WEIGHTS, k=_chance.randint(10, 80)))
    if _chance.random() < 0.2:
        text += " " + "".join(_chance.choices(_CHINESE, k=_chance.randint(4, 40)))
    return text


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
