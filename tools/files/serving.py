"""Answers the questions of a `RemotePlace` about the files of the machine that this runs on.

It is sent there together with the modules it needs (`tools.files.bundle`), and so has to work
with an older Python, and without anything installed.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, BinaryIO

from tools.files import wire
from tools.files.findings import Clock, Findings, Query
from tools.files.local_place import LocalPlace
from tools.files.patterns import compile_pattern
from tools.files.place import Place
from tools.files.problems import Problem
from tools.files.searching import search_contents

Answer = tuple[Any, bytes]


class Server:
    """Answers for one place. ``gone`` is set when nobody waits for the answer any more."""

    def __init__(self, place: Place, gone: threading.Event) -> None:
        self._place, self._gone = place, gone
        self._operations: Mapping[str, Callable[[dict[str, Any], bytes], Answer]] = {
            name.removeprefix("do_"): getattr(self, name)
            for name in dir(self)
            if name.startswith("do_")
        }

    def answer(self, message: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        operation = self._operations[message.pop("do")]
        try:
            value, content = operation(message, body)
        except ConnectionError:  # the place behind this server; who asked has to know
            raise
        except (OSError, Problem) as error:
            return wire.told(error), b""
        return {"value": value}, content

    def do_facts(self, asked: dict[str, Any], body: bytes) -> Answer:
        place = self._place
        return [place.expand("~"), place.home(), place.temporary()], b""

    def do_expand(self, asked: dict[str, Any], body: bytes) -> Answer:
        return self._place.expand(asked["path"]), b""

    def do_real(self, asked: dict[str, Any], body: bytes) -> Answer:
        return [self._place.real(path) for path in asked["paths"]], b""

    def do_stat(self, asked: dict[str, Any], body: bytes) -> Answer:
        found = self._place.stat(asked["path"])
        return found and [found.kind, found.size, found.mode], b""

    def do_iterdir(self, asked: dict[str, Any], body: bytes) -> Answer:
        entries = self._place.iterdir(asked["path"])
        return [[each.name, each.kind, each.is_link] for each in entries], b""

    def do_read_bytes(self, asked: dict[str, Any], body: bytes) -> Answer:
        path, most = asked["path"], asked["most"]
        found = self._place.stat(path)
        if found is not None and found.size > most:
            raise Problem(f"{path} has {found.size:,} bytes, too many to be fetched as a whole")
        return None, self._place.read_bytes(path)

    def do_read_lines(self, asked: dict[str, Any], body: bytes) -> Answer:
        first, count = asked["first"], asked["count"]
        found = self._place.read_lines(asked["path"], first, count, self._gone.is_set)
        page = asdict(found.page) if found.page else None
        return {"page": page, "is_notebook": found.is_notebook}, found.head

    def do_write(self, asked: dict[str, Any], body: bytes) -> Answer:
        self._place.write_bytes_atomic(asked["path"], body, asked["mode"])
        return None, b""

    def do_make_folders(self, asked: dict[str, Any], body: bytes) -> Answer:
        return self._place.make_folders(asked["path"]), b""

    def do_remove(self, asked: dict[str, Any], body: bytes) -> Answer:
        self._place.remove(asked["path"])
        return None, b""

    def do_remove_folder(self, asked: dict[str, Any], body: bytes) -> Answer:
        self._place.remove_folder(asked["path"])
        return None, b""

    def do_search_names(self, asked: dict[str, Any], body: bytes) -> Answer:
        found = self._place.search_names(Query(**asked["query"]), self._clock(asked))
        return asdict(found), b""

    def do_search_contents(self, asked: dict[str, Any], body: bytes) -> Answer:
        query, clock = Query(**asked["query"]), self._clock(asked)
        return asdict(self._place.search_contents(query, asked["flags"], clock)), b""

    def _clock(self, asked: dict[str, Any]) -> Clock:
        return Clock(time.monotonic() + asked["seconds"], self._gone)


class Here(LocalPlace):
    """The files of this machine. Who asks kills this process if a pattern runs for ever."""

    def search_contents(self, query: Query, flags: int, clock: Clock) -> Findings:
        return search_contents(query, compile_pattern(query.pattern, flags), self, clock)


def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more questions. What was begun is finished."""
    waiting: queue.Queue[tuple[dict[str, Any], bytes] | None] = queue.Queue()
    gone = threading.Event()
    threading.Thread(target=_listen, args=(asked, waiting, gone), daemon=True).start()
    server = Server(Here(), gone)
    while (question := waiting.get()) is not None:
        answers.write(wire.frame(*server.answer(*question)))
        answers.flush()


def _listen(
    asked: BinaryIO,
    waiting: queue.Queue[tuple[dict[str, Any], bytes] | None],
    gone: threading.Event,
) -> None:
    def read(count: int) -> bytes:
        content = asked.read(count)
        if len(content) < count:
            raise EOFError
        return content

    try:
        while True:
            waiting.put(wire.read_frame(read))
    except (EOFError, OSError, ValueError):  # the other side has gone, whatever it sent before
        gone.set()
        waiting.put(None)
