"""A Modal sandbox as a place where processes run, through Modal's own library.

A throw-away sandbox ends with the host. A persistent one has a name: while it runs, the next host
finds it by that name; when its host is closed, its files are kept as an image of the same name,
from which the next one starts.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tools.environments.async_channel import AsyncChannel, Output, drained
from tools.environments.async_host import GRACE, HostLoop, import_extra
from tools.environments.host import Channel, Completed, Health, Host, HostError, Isolation, Stream
from tools.environments.modal_errors import explain, is_gone
from tools.environments.remote_files import fetch, store

APP = "hermes-jupyter"
LIFETIME = 24 * 3600  # seconds; the longest that Modal allows
CREATE_TIMEOUT = 600.0  # an image may have to be built
SNAPSHOT_TIMEOUT = 120
CALL_TIMEOUT = 30.0
DRAIN = 0.5  # seconds without output after which an ended process is not listened to any more
INPUT_PART = 8 << 20  # bytes in one call; the library refuses 16 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class ModalSandbox:
    """What sandbox to have."""

    image: str
    """Of a registry, or the id (``im-...``) of one at Modal."""
    name: str | None = None
    """Of a persistent sandbox; None for a throw-away one."""
    cpu: float | None = None
    memory: int | None = None
    """MiB"""
    network: bool = True


class ModalChannel(AsyncChannel):
    """One process that runs in the sandbox."""

    def __init__(self, host_loop: HostLoop, process: Any) -> None:
        super().__init__(host_loop)
        self._process = process
        self._watch = host_loop.start(self._follow())

    async def send(self, data: bytes) -> None:
        for start in range(0, len(data), INPUT_PART):
            self._process.stdin.write(data[start : start + INPUT_PART])
            await self._process.stdin.drain.aio()

    async def send_end(self) -> None:
        self._process.stdin.write_eof()
        await self._process.stdin.drain.aio()

    def close(self) -> None:
        self._watch.cancel()
        self.fail(HostError("The connection to this process was closed."))

    async def _follow(self) -> None:
        pumps = {
            asyncio.ensure_future(_pump(self._process.stdout, "out", self.output)),
            asyncio.ensure_future(_pump(self._process.stderr, "err", self.output)),
        }
        ended = asyncio.ensure_future(self._process.wait.aio())
        try:
            await _until_ended(ended, pumps)
            await drained(self.output, pumps, DRAIN)
            self.finish(ended.result())
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the seam to a foreign library
            self.fail(error if isinstance(error, HostError) else explain(error))
        finally:
            for task in (ended, *pumps):
                task.cancel()


async def _pump(reader: Any, stream: Stream, output: Output) -> None:
    async for data in reader:
        await output.put(stream, data)
    output.end_of(stream)


async def _until_ended(ended: asyncio.Future[int], pumps: set[asyncio.Task[None]]) -> None:
    """Wait for the process; a stream that breaks is the end as well."""
    waiting: set[asyncio.Future[Any]] = {ended, *pumps}
    while not ended.done():
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done - {ended}:
            task.result()
        if not waiting - {ended} and not ended.done():
            await asyncio.wait_for(asyncio.shield(ended), CALL_TIMEOUT)


class ModalHost(Host):
    """A sandbox at Modal; it is made, or found again, when it is first needed.

    Parameters
    ----------
    sandbox
        What to have.
    token
        Id and secret; None to take what ``modal token new`` has stored.
    """

    def __init__(self, sandbox: ModalSandbox, token: tuple[str, str] | None = None) -> None:
        self._modal = import_extra("modal", "modal")
        self._wanted = sandbox
        self._token = token
        self._loop = HostLoop("Modal", explain)
        self._lock = threading.Lock()  # guards the next four
        self._client: Any = None
        self._sandbox: Any = None
        self._home: str | None = None
        self._closed = False
        self.name = sandbox.name or ""  # files of a throw-away one are never met again
        self.isolation = Isolation(isolated=True, network=sandbox.network)

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> Channel:
        options = {"workdir": cwd, "env": dict(env or {}), "text": False, "pty": pty}
        process = self._exec(argv, options, CALL_TIMEOUT, "starting a process")
        return ModalChannel(self._loop, process)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        options = {"text": False, "timeout": math.ceil(timeout)}
        process = self._exec(argv, options, timeout, f"running {argv[0]}")
        return self._loop.call(
            _complete(process, stdin, timeout), timeout=timeout + GRACE, doing=f"running {argv[0]}"
        )

    def get(self, path: str) -> bytes:
        return fetch(self, path)

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        store(self, path, content, mode)

    def home(self) -> str:
        if self._home is None:
            self._home = self.run(["pwd"]).out.decode().rstrip("\n") or "/"
        return self._home

    def health(self) -> Health:
        with self._lock:
            sandbox = self._sandbox
        if sandbox is None:
            return Health(not self._closed, "closed" if self._closed else "starts when needed")
        try:
            code = self._loop.call(sandbox.poll.aio(), timeout=5, doing="asking for its health")
        except HostError as error:
            return Health(False, str(error))
        name = self._wanted.name or sandbox.object_id
        if code is None:
            return Health(True, f"sandbox {name} runs")
        return Health(False, f"sandbox {name} has ended; the next command starts another")

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sandbox, self._sandbox = self._sandbox, None
        try:
            if sandbox is not None:
                self._end(sandbox)
            if self._client is not None:
                self._loop.call(self._client.close.aio(), timeout=CALL_TIMEOUT, doing="closing")
        finally:
            self._loop.close()

    def _end(self, sandbox: Any) -> None:
        try:
            if self._wanted.name:
                wait = SNAPSHOT_TIMEOUT + 2 * CALL_TIMEOUT
                self._loop.call(
                    self._keep(sandbox, self._wanted.name), timeout=wait, doing="keeping its files"
                )
        except HostError as error:
            if is_gone(error.__cause__):  # nothing is left to keep, or to end
                return
            raise  # the sandbox goes on, with its files, and is found by its name
        self._loop.call(sandbox.terminate.aio(), timeout=CALL_TIMEOUT, doing="ending the sandbox")

    async def _keep(self, sandbox: Any, name: str) -> None:
        image = await sandbox.snapshot_filesystem.aio(timeout=SNAPSHOT_TIMEOUT)
        await image.publish.aio(name, client=self._client)

    def _exec(
        self, argv: Sequence[str], options: dict[str, Any], timeout: float, doing: str
    ) -> Any:
        """Start a process; in a new sandbox if the old one has ended meanwhile."""
        sandbox = self._ready()
        try:
            start = sandbox.exec.aio(*argv, **options)
            return self._loop.call(start, timeout=timeout, doing=doing)
        except HostError as error:
            if not is_gone(error.__cause__) or self._still_runs(sandbox):
                raise
        with self._lock:
            if self._sandbox is sandbox:
                self._sandbox = self._home = None
        start = self._ready().exec.aio(*argv, **options)
        return self._loop.call(start, timeout=timeout, doing=doing)

    def _still_runs(self, sandbox: Any) -> bool:
        with suppress(HostError):
            code = self._loop.call(sandbox.poll.aio(), timeout=CALL_TIMEOUT, doing="looking for it")
            return code is None
        return False

    def _ready(self) -> Any:
        with self._lock:
            if self._closed:
                raise HostError("This Modal sandbox was closed.")
            if self._sandbox is None:
                self._sandbox = self._loop.call(
                    self._acquire(), timeout=CREATE_TIMEOUT, doing="starting a sandbox"
                )
            return self._sandbox

    async def _acquire(self) -> Any:
        if self._client is None:
            self._client = await self._connect()
        if self._wanted.name:
            with suppress(self._modal.exception.NotFoundError):
                return await self._modal.Sandbox.from_name.aio(
                    APP, self._wanted.name, client=self._client
                )
            with suppress(self._modal.exception.NotFoundError):  # there are no kept files
                kept = self._modal.Image.from_name(self._wanted.name, client=self._client)
                return await self._create(kept)
        return await self._create(self._image())

    async def _connect(self) -> Any:
        if self._token is None:
            client = await self._modal.Client.from_env.aio()
        else:
            client = await self._modal.Client.from_credentials.aio(*self._token)
        await asyncio.wait_for(client.hello.aio(), CALL_TIMEOUT)  # a wrong token is refused here
        return client

    def _image(self) -> Any:
        image = self._wanted.image
        if image.startswith("im-"):
            return self._modal.Image.from_id(image, client=self._client)
        return self._modal.Image.from_registry(image)

    async def _create(self, image: Any) -> Any:
        app = await self._modal.App.lookup.aio(APP, create_if_missing=True, client=self._client)
        wanted = self._wanted
        sandbox = await self._modal.Sandbox.create.aio(
            "sleep",
            "infinity",
            app=app,
            client=self._client,
            name=wanted.name,
            image=image,
            tags={"made-by": APP},
            timeout=LIFETIME,
            cpu=wanted.cpu,
            memory=wanted.memory,
            block_network=not wanted.network,
        )
        # It may still wait for a machine, or for its image: that must not count as a late answer.
        await (await sandbox.exec.aio("true")).wait.aio()
        return sandbox


async def _complete(process: Any, stdin: bytes, within: float) -> Completed:
    try:
        return await asyncio.wait_for(_feed_and_read(process, stdin), within)
    except TimeoutError:
        raise HostError(f"The command did not end within {within:g} s.") from None


async def _feed_and_read(process: Any, stdin: bytes) -> Completed:
    async def feed() -> None:
        for start in range(0, len(stdin), INPUT_PART):
            process.stdin.write(stdin[start : start + INPUT_PART])
            await process.stdin.drain.aio()
        process.stdin.write_eof()
        await process.stdin.drain.aio()

    feeding = asyncio.ensure_future(feed())
    out, err = await asyncio.gather(process.stdout.read.aio(), process.stderr.read.aio())
    code = await process.wait.aio()
    feeding.cancel()  # a process may end without having read all
    with suppress(asyncio.CancelledError, Exception):
        await feeding
    if code == -1:  # the library's word for its own deadline
        raise TimeoutError
    return Completed(code, out, err)
