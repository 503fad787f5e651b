"""The kernel's side of the local model: starts the child process, watches it, ends it."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import functools
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.models.local.catalog import DEFAULT
from hermes_jupyter.agent.models.local.weights import cache_folder
from hermes_jupyter.errors import ModelError

Notice = Callable[[str], object]
GRACE = 3.0  # seconds for the child to end by itself
TAIL = 400  # characters of the log that an error quotes
WEEK = 7 * 24 * 3600.0
LAUNCH = """
import runpy, sys
sys.path += [path for path in sys.argv[1:] if path not in sys.path]
runpy.run_module("hermes_jupyter.agent.models.local.server", run_name="__main__")
"""
# The child finds what the kernel finds, but in its own order: a notebook's folder may hold a
# file with the name of a standard module, and -P keeps the current folder out.
CHILD_SETTINGS = {
    # A thread that spins while it waits slows everything else on the machine down, itself included.
    "OMP_WAIT_POLICY": "passive",
    # The plain protocol can go on with a broken download and shows how far it is.
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the model answers, for an OpenAI client."""

    base_url: str
    api_key: str
    model: str


class LocalServer:
    """The child process of one model, started when it is needed and again after a crash.

    Parameters
    ----------
    model : str
        A name of the catalog, or a path to a .gguf file.
    cache : Path, optional
        Where models and logs are kept, instead of the user's cache folder.
    """

    def __init__(self, model: str = DEFAULT, *, cache: Path | None = None) -> None:
        self._model = model
        self._cache = cache or cache_folder()
        self._child: Child | None = None
        self._guard = threading.Lock()  # of _child

    async def start(self, notice: Notice) -> Endpoint:
        """Return the endpoint, having started the child if it does not run.

        Several may wait at once. One who gives up does not stop the start for the others.

        Parameters
        ----------
        notice : callable
            Told, on the running loop, how far the start is.

        Raises
        ------
        ModelError
            If it cannot start; the next call tries again.
        """
        child = self._running_child()
        if child.ready.done():
            return child.ready.result()
        loop = asyncio.get_running_loop()
        with child.told(lambda text: loop.call_soon_threadsafe(notice, text)):
            return await asyncio.shield(asyncio.wrap_future(child.ready))

    def alive(self) -> bool:
        """Whether the child runs."""
        return self._child is not None and self._child.alive()

    def failure(self) -> ModelError | None:
        """Return why the child ended, if it did so by itself.

        For a caller whose request broke off: tells a crash from a refused connection.
        """
        return self._child.failure() if self._child is not None else None

    def stop(self) -> None:
        """End the child. Takes a moment; `start` may be called again."""
        with self._guard:
            child, self._child = self._child, None
        if child is not None:
            child.end()

    def _running_child(self) -> Child:
        with self._guard:
            if self._child is None or not self._child.alive():
                if self._child is not None:
                    self._child.end()
                self._child = Child(self._model, self._cache)
            return self._child


@functools.cache
def shared_server(model: str = DEFAULT) -> LocalServer:
    """Return the one server of this process for a model: weights take gigabytes of memory."""
    return LocalServer(model)


class Child:
    """One run of the child process.

    A thread reads what it says, so that no event loop ever waits for a pipe.
    """

    def __init__(self, model: str, cache: Path) -> None:
        self.ready: concurrent.futures.Future[Endpoint] = concurrent.futures.Future()
        self._key = secrets.token_urlsafe(24)
        self._listeners: list[Notice] = []
        self._log = fresh_log(cache / "logs")
        self._process = launched(self._log)
        order = {"model": model, "cache": str(cache), "api_key": self._key}
        self._say(json.dumps(order) + "\n")
        self._reader = threading.Thread(target=self._read, name="hermes-local-model", daemon=True)
        self._reader.start()
        atexit.register(self.end)

    def alive(self) -> bool:
        return self._process.poll() is None

    def failure(self) -> ModelError | None:
        return None if self.alive() else self._crash()

    @contextlib.contextmanager
    def told(self, notice: Notice) -> Iterator[None]:
        """Have `notice` told about the start, from another thread."""
        self._listeners.append(notice)
        try:
            yield
        finally:
            self._listeners.remove(notice)

    def end(self) -> None:
        """Close the child's stdin, which ends it, and wait for it."""
        atexit.unregister(self.end)
        was_alive = self.alive()
        with contextlib.suppress(OSError):  # it is gone already
            self._pipe().close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(GRACE)
        self._reader.join(GRACE)
        if was_alive:  # the log of a crash stays, for a bug report
            self._log.unlink(missing_ok=True)

    def _pipe(self) -> Any:
        assert self._process.stdin is not None
        return self._process.stdin

    def _say(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # a child that dies at once; the reader says why
            self._pipe().write(line)
            self._pipe().flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._hear(json.loads(line))
        self._process.wait()
        if not self.ready.done():
            self.ready.set_exception(self._crash())

    def _hear(self, said: dict[str, Any]) -> None:
        match said:
            case {"url": url, "model": model}:
                self.ready.set_result(Endpoint(base_url=url, api_key=self._key, model=model))
            case {"error": message, "kind": kind}:
                self.ready.set_exception(ModelError(message, kind=kind))
            case {"progress": what, **rest}:
                percent = f" {rest['percent']} %" if "percent" in rest else ""
                for notice in list(self._listeners):
                    notice(f"Loading the local model: {what}{percent}")

    def _crash(self) -> ModelError:
        ending = how_it_ended(self._process.returncode)
        return ModelError(
            f"The local model's process {ending}; it starts again with the next call. "
            f"Last words: {tail(self._log)} (log: {self._log})",
            kind="server",
        )


def launched(log: Path) -> subprocess.Popen[str]:
    """Start the child in a session of its own: an interrupt of the kernel is not meant for it."""
    new_group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    with log.open("ab") as stderr:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", LAUNCH, *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**CHILD_SETTINGS, **os.environ},
            encoding="utf-8",
            start_new_session=True,
            creationflags=new_group,
        )


def fresh_log(folder: Path) -> Path:
    """Return the path of an empty log of this process; remove those that nobody will ask for."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("local-model-*.log"):
        if old.stat().st_mtime < time.time() - WEEK:
            old.unlink(missing_ok=True)
    path = folder / f"local-model-{os.getpid()}.log"
    path.write_bytes(b"")
    return path


def tail(log: Path) -> str:
    """Return the end of a log as one line."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "(no log)"
    return " ".join(text.split())[-TAIL:] or "(none)"


def how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    name = signal.Signals(-code).name
    hint = " (the engine needs a CPU with AVX2)" if name == "SIGILL" else ""
    return f"was ended by {name}{hint}"
