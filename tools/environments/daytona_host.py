"""A Daytona sandbox as a place where processes run, through Daytona's own library.

A throw-away sandbox is deleted with the host. A persistent one has a name: it is stopped with the
host, which keeps its files, and started again by the next one.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import secrets
import shlex
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.environments.async_host import GRACE, HostLoop, import_extra
from tools.environments.daytona_channel import READY_TIMEOUT, DaytonaChannel, DaytonaTerminal
from tools.environments.daytona_errors import GET_KEY, explain, is_gone
from tools.environments.host import Channel, Completed, Health, Host, HostError, Isolation
from tools.environments.remote_files import fetch, store

RELAY = Path(__file__).with_name("daytona_relay.sh")
CREATE_TIMEOUT = 600.0  # an image may have to be built
CALL_TIMEOUT = 30.0
TRANSFER_TIMEOUT = 300.0
INLINE = 60_000  # bytes of input that fit into a command; more goes by a file
THROW_AWAY_MINUTES = 24 * 60  # how long one may live if nobody deletes it
TERMINAL_SIZE = (30, 120)
TOO_LATE = 408  # how the daemon answers when a command has not ended in time

# One text out of two streams and an exit code: the output as base64, a colon, the errors as base64
# with the exit code somewhere among them, on a line of its own.
RUN = """
exec 3>&1
errors=$(
    exec 5>&1
    {{ {{ {command} 2>&4 3>&- 4>&- 5>&-; echo "!$?" >&5; }} | base64 >&3; }} 4>&1 | base64
)
echo :
printf '%s\\n' "$errors"
"""
CODE = re.compile(r"!(\d+)\n")

# Everything that the relay needs, in a folder that only it can read.
PREPARE = """
umask 077
folder=$(mktemp -d "${{TMPDIR:-/tmp}}/hermes-XXXXXX") && cd "$folder" || exit 125
mkfifo in out err out.ack err.ack && printf %s {mark} >mark || exit 125
base64 -d >relay <<'end'
{relay}
end
base64 -d >start <<'end'
{start}
end
echo "$folder"
"""
START = """
rm -f -- "$0"
cd {cwd} || exit 126
exec env {env} {argv}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaytonaSandbox:
    """What sandbox to have."""

    image: str | None = None
    """None for the organization's default snapshot."""
    name: str | None = None
    """Of a persistent sandbox; None for a throw-away one."""
    cpu: int | None = None
    memory: int | None = None
    """GiB; like ``cpu`` and ``disk`` only with an image."""
    disk: int | None = None
    """GiB"""
    network: bool = True
    label: str = ""


class DaytonaHost(Host):
    """A sandbox at Daytona; it is made, or started again, when it is first needed.

    Parameters
    ----------
    sandbox
        What to have.
    key
        For the API.
    url
        Of the API; None for Daytona's own.
    """

    def __init__(self, sandbox: DaytonaSandbox, key: str, url: str | None = None) -> None:
        if not key:
            raise HostError(f"Daytona needs an API key. {GET_KEY}")
        self._daytona = import_extra("daytona", "daytona")
        self._daytona.AsyncDaytona  # noqa: B018 - it is loaded here, for seconds, and not on the loop
        self._wanted = sandbox
        self._key = key
        self._url = url
        self._loop = HostLoop("Daytona", explain)
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
        mark = f"<{secrets.token_hex(16)}>"
        variables = " ".join(shlex.quote(f"{name}={value}") for name, value in (env or {}).items())
        start = START.format(
            cwd=shlex.quote(cwd or self.home()), env=variables, argv=shlex.join(argv)
        )
        script = PREPARE.format(
            mark=shlex.quote(mark), relay=_packed(RELAY.read_bytes()), start=_packed(start.encode())
        )
        sandbox, done = self._execute(script, CALL_TIMEOUT, "starting a process")
        folder = done.result.strip()
        if done.exit_code or not folder:
            raise HostError(f"The Daytona sandbox cannot start a process: {folder or 'no output'}")
        kind = DaytonaTerminal if pty else DaytonaChannel
        channel = kind(self._loop, sandbox, folder, mark.encode())
        rows, cols = TERMINAL_SIZE
        begin = channel.begin(self._daytona.PtySize(rows=rows, cols=cols))
        self._loop.call(begin, timeout=READY_TIMEOUT + CALL_TIMEOUT, doing="starting a process")
        return channel

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        uploaded = self._upload(stdin) if len(stdin) > INLINE else ""
        command = shlex.join(argv)
        if uploaded:
            command += f" <{shlex.quote(uploaded)}"
        elif stdin:
            command = f"printf %s {_packed(stdin)} | base64 -d | {command}"
        else:
            command += " </dev/null"
        doing = f"running {argv[0]}"
        _, done = self._execute(RUN.format(command=command), timeout, doing)
        if uploaded:
            self._execute(f"rm -f -- {shlex.quote(uploaded)}", CALL_TIMEOUT, "removing a file")
        return _completed(done.result)

    def get(self, path: str) -> bytes:
        try:
            download = self._ready().fs.download_file(path, int(TRANSFER_TIMEOUT))
            content: bytes | None = self._loop.call(
                download, timeout=TRANSFER_TIMEOUT, doing="reading a file"
            )
        except HostError:
            return fetch(self, path)  # says why it cannot be read, or that the sandbox is away
        return content or b""

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        uploaded = self._upload(content) if len(content) > INLINE else ""
        try:
            store(self, path, content, mode, uploaded=uploaded)
        finally:
            if uploaded:
                self._execute(f"rm -f -- {uploaded}", CALL_TIMEOUT, "removing a file")

    def home(self) -> str:
        if self._home is None:
            self._home = self._loop.call(
                self._ready().get_work_dir(), timeout=CALL_TIMEOUT, doing="asking for its folder"
            )
        return self._home

    def health(self) -> Health:
        with self._lock:
            sandbox = self._sandbox
        if sandbox is None:
            return Health(not self._closed, "closed" if self._closed else "starts when needed")
        try:
            refresh = sandbox.refresh_data(request_timeout=5)
            self._loop.call(refresh, timeout=5, doing="asking for its health")
        except HostError as error:
            return Health(False, str(error))
        state = getattr(sandbox.state, "value", sandbox.state)
        return Health(state == "started", f"sandbox {sandbox.name} is {state}")

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sandbox, self._sandbox = self._sandbox, None
        try:
            if sandbox is not None:
                end = sandbox.stop if self._wanted.name else sandbox.delete
                self._loop.call(end(timeout=60), timeout=60, doing="ending the sandbox")
        except HostError as error:
            if not is_gone(error.__cause__):
                raise
        finally:
            if self._client is not None:
                with suppress(HostError):
                    self._loop.call(self._client.close(), timeout=CALL_TIMEOUT, doing="closing")
            self._loop.close()

    def _upload(self, content: bytes) -> str:
        """Bring bytes into a new file there."""
        path = f"/tmp/.hermes.{secrets.token_hex(8)}"
        upload = self._ready().fs.upload_file(content, path, int(TRANSFER_TIMEOUT))
        self._loop.call(upload, timeout=TRANSFER_TIMEOUT, doing="sending a file")
        return path

    def _execute(self, script: str, timeout: float, doing: str) -> tuple[Any, Any]:
        """Run a script; in the sandbox started again, or a new one, if it is away meanwhile."""
        # Packed once more, because there were daemons that split a command without a shell.
        command = f"sh -c 'echo {_packed(script.encode())} | base64 -d | sh'"
        sandbox = self._ready()
        try:
            return sandbox, self._exec(sandbox, command, timeout, doing)
        except HostError as error:
            if not is_gone(error.__cause__):
                raise
        with self._lock:
            if self._sandbox is sandbox:
                self._sandbox = self._home = None
        sandbox = self._ready()
        return sandbox, self._exec(sandbox, command, timeout, doing)

    def _exec(self, sandbox: Any, command: str, timeout: float, doing: str) -> Any:
        run = sandbox.process.exec(command, timeout=math.ceil(timeout))
        try:
            return self._loop.call(run, timeout=timeout + GRACE, doing=doing)
        except HostError as error:
            if getattr(error.__cause__, "status_code", None) == TOO_LATE:
                raise HostError(f"The command did not end within {timeout:g} s.") from error
            raise

    def _ready(self) -> Any:
        with self._lock:
            if self._closed:
                raise HostError("This Daytona sandbox was closed.")
            if self._sandbox is None:
                self._sandbox = self._loop.call(
                    self._acquire(), timeout=CREATE_TIMEOUT, doing="starting a sandbox"
                )
            return self._sandbox

    async def _acquire(self) -> Any:
        if self._client is None:
            config = self._daytona.DaytonaConfig(api_key=self._key, api_url=self._url)
            self._client = self._daytona.AsyncDaytona(config)
        if self._wanted.name:
            with suppress(self._daytona.DaytonaNotFoundError):
                found = await self._client.get(self._wanted.name, request_timeout=CALL_TIMEOUT)
                if getattr(found.state, "value", found.state) != "started":
                    await found.start(timeout=CREATE_TIMEOUT)
                return found
        return await self._client.create(self._parameters(), timeout=CREATE_TIMEOUT)

    def _parameters(self) -> Any:
        wanted = self._wanted
        options: dict[str, Any] = {
            "name": wanted.name,
            "labels": {"made-by": "hermes-jupyter", "session": wanted.label},
            "auto_stop_interval": 0,  # a command that prints nothing for long counts as idle there
            "network_block_all": not wanted.network,
        }
        if wanted.name is None:
            options |= {"ephemeral": True, "ttl_minutes": THROW_AWAY_MINUTES}
        if wanted.image is None:
            return self._daytona.CreateSandboxFromSnapshotParams(**options)
        resources = self._daytona.Resources(cpu=wanted.cpu, memory=wanted.memory, disk=wanted.disk)
        return self._daytona.CreateSandboxFromImageParams(
            **options, image=wanted.image, resources=resources
        )


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _completed(text: str) -> Completed:
    out, colon, rest = text.partition(":\n")
    code = CODE.search(rest)
    try:
        if not colon or code is None:
            raise ValueError
        err = rest[: code.start()] + rest[code.end() :]
        return Completed(int(code[1]), base64.b64decode(out), base64.b64decode(err))
    except (ValueError, binascii.Error):
        raise HostError(
            f"The Daytona sandbox answers what we do not know: {text[:300]!r}"
        ) from None
