"""The child process: ``python -m hermes_jupyter.agent.models.local.server``.

It reads one line of JSON from stdin (``model``, ``cache``, ``api_key``: a key in the arguments
would be seen by every user of the machine), writes lines of JSON to stdout (``progress``, then
``url`` and ``model``, or ``error`` and ``kind``) and serves until stdin closes, which it does when
the parent ends, however it ends.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from hermes_jupyter.agent.models.local.catalog import MODELS
from hermes_jupyter.agent.models.local.endpoint import Endpoint
from hermes_jupyter.agent.models.local.engine import Engine
from hermes_jupyter.agent.models.local.weights import cache_folder, find_weights
from hermes_jupyter.errors import ModelError

GRACE = 2.0  # seconds for a clean end


class Channel:
    """Tells the parent what goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._percent: tuple[str, int] = ("", -1)

    def tell(self, **facts: Any) -> None:
        print(json.dumps(facts), file=self._stream, flush=True)

    def progress(self, what: str, done: int, total: int) -> None:
        percent = (what, 100 * done // total)
        if percent != self._percent:
            self._percent = percent
            self.tell(progress=what, percent=percent[1])


def main() -> int:
    channel = Channel(own_stdout())
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_parent, name="hermes-parent", daemon=True).start()
    try:
        serve(order, channel)
    except ModelError as error:
        channel.tell(error=str(error), kind=error.kind)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):  # the parent is gone
        return 0
    return 0


def serve(order: dict[str, Any], channel: Channel) -> None:
    cache = Path(order["cache"]) if order.get("cache") else None
    weights = find_weights(order["model"], progress=channel.progress, cache=cache)
    slots = (cache or cache_folder()) / "prefixes"
    channel.tell(progress="starting")
    name = order["model"] if order["model"] in MODELS else weights.stem
    endpoint = Endpoint(Engine(weights, name, slots), name, order["api_key"])
    channel.tell(url=endpoint.url, model=name)
    endpoint.serve_forever(poll_interval=0.1)


def own_stdout() -> TextIO:
    """Keep stdout for the protocol; what native code prints there goes to the log."""
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return protocol


def end_with_parent() -> None:
    while sys.stdin.read(4096):
        continue
    _thread.interrupt_main()  # lets an assembly remove its half-written file
    time.sleep(GRACE)
    os._exit(0)  # the main thread is inside native code


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # the engine's threads have nothing to save, and joining them takes a while
