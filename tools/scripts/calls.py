"""The calls of tools that a script makes: which, how many, how large; and their answers."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from tools.environments.host import HostError
from tools.scripts.boot import frame

CallTool = Callable[[str, Mapping[str, Any]], "Future[str]"]
"""Takes a call on the road of all calls; from any thread."""
MOST_REFUSED = 1_000
"""A script that goes on calling after so many refusals is ended."""


class Calls:
    """Those of one script.

    Parameters
    ----------
    take
        Makes a call.
    allowed
        Names of the tools that it may call.
    most
        How many calls it may make.
    send
        Sends an answer to the script; blocks if that does not read.
    waiting
        Around the time in which the script waits for tools: it is not its own.
    """

    def __init__(
        self,
        take: CallTool,
        allowed: Collection[str],
        most: int,
        send: Callable[[bytes], None],
        waiting: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._take, self._allowed, self._most = take, allowed, most
        self._send, self._waiting = send, waiting
        self.made: Counter[str] = Counter()
        self.refused = 0
        self._lock = threading.Lock()  # guards the four below
        self._running: dict[int, Future[str]] = {}
        self._wait = ExitStack()
        self._since = 0.0
        self._waited = 0.0
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._deliver, name="hermes-script-answers", daemon=True).start()

    @property
    def count(self) -> int:
        return sum(self.made.values())

    @property
    def seconds_waited(self) -> float:
        """How long at least one call has been running."""
        with self._lock:
            return self._waited + (time.monotonic() - self._since if self._running else 0.0)

    def begin(self, number: Any, name: Any, args: Any) -> None:
        """Make a call that the script asks for, or refuse it."""
        if refusal := self._refusal(number, name, args):
            self.refused += 1
            self._answers.put(frame({"id": number, "refused": refusal}))
            return
        self.made[name] += 1
        future = self._take(name, args)
        with self._lock:
            if not self._running:
                self._since = time.monotonic()
                self._wait.enter_context(self._waiting())
            self._running[number] = future
        future.add_done_callback(lambda done: self._finish(number, done))

    def end(self) -> None:
        """Stop what still runs, and answer no more."""
        with self._lock:
            running = list(self._running.values())
        for future in running:
            future.cancel()
        self._answers.put(None)

    def _refusal(self, number: Any, name: Any, args: Any) -> str:
        if not isinstance(number, int) or not isinstance(name, str) or not isinstance(args, dict):
            return "this is no call"
        if name not in self._allowed:
            return f"there is no tool {name[:100]!r} for scripts here"
        if self.count >= self._most:
            return f"a script may make {self._most} calls of tools, and these are made"
        return ""

    def _finish(self, number: int, done: Future[str]) -> None:
        with self._lock:
            self._running.pop(number, None)
            if not self._running:
                self._waited += time.monotonic() - self._since
                self._wait.close()
        if done.cancelled():
            answer = {"id": number, "refused": "the call was interrupted"}
        elif (error := done.exception()) is not None:
            answer = {"id": number, "refused": f"the call failed: {error}"}
        else:
            answer = {"id": number, "text": done.result()}
        self._answers.put(frame(answer))

    def _deliver(self) -> None:
        while (answer := self._answers.get()) is not None:
            try:
                self._send(answer)
            except HostError:  # it has ended
                return
