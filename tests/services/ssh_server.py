"""An SSH server inside the test's process: real protocol, real processes of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import asyncssh

from tests.services.threads import LoopInThread

PASSWORD = "not a real password"
SECONDS_FOR_THE_REST = 0.5


class _Server(asyncssh.SSHServer):
    """Lets in who has the key or the password."""

    def __init__(self, owner: SshServer) -> None:
        self._owner = owner

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._owner.connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        self._owner.logins.append(username)
        return True

    def connection_requested(self, host: str, port: int, from_host: str, from_port: int) -> bool:
        return True  # for those who jump on from here

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return password == PASSWORD


class SshServer:
    """On ``port`` of the loopback interface.

    The folder gets ``id_ed25519``, which is let in, and ``known_hosts``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logins: list[str] = []
        self.commands: list[str] = []
        self.connections: set[asyncssh.SSHServerConnection] = set()
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(folder / "id_ed25519"))
        (folder / "id_ed25519").chmod(0o600)
        key.write_public_key(str(folder / "authorized_keys"))
        self.host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.port = 0
        self.start()
        self.make_known(self.port)

    @property
    def settings(self) -> dict[str, str]:
        return {
            "TERMINAL_SSH_HOST": "127.0.0.1",
            "TERMINAL_SSH_PORT": str(self.port),
            "TERMINAL_SSH_USER": "somebody",
            "TERMINAL_SSH_KEY": str(self.folder / "id_ed25519"),
            "TERMINAL_SSH_KNOWN_HOSTS": str(self.folder / "known_hosts"),
            "TERMINAL_SSH_CONFIG": os.devnull,
        }

    def make_known(self, port: int) -> None:
        """Write its key into ``known_hosts``, as that of what listens on a port."""
        public = self.host_key.export_public_key().decode()
        with (self.folder / "known_hosts").open("a", encoding="utf-8") as file:
            file.write(f"[127.0.0.1]:{port} {public}")

    def start(self) -> None:
        """Listen, again on the same port."""
        self._thread = LoopInThread()
        self._acceptor = self._thread.call(self._start())
        self.port = self._acceptor.get_port()

    def stop(self) -> None:
        """End it and its connections; what they have started goes on."""
        self._thread.call(self._stop())
        self._thread.stop()

    async def _start(self) -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            lambda: _Server(self),
            "127.0.0.1",
            self.port,
            server_host_keys=[self.host_key],
            authorized_client_keys=str(self.folder / "authorized_keys"),
            process_factory=self._serve,
            encoding=None,
            sftp_factory=True,
        )

    async def _stop(self) -> None:
        self._acceptor.close()
        for connection in list(self.connections):
            connection.abort()
        await self._acceptor.wait_closed()

    async def _serve(self, client: asyncssh.SSHServerProcess[bytes]) -> None:
        self.commands.append(client.command or "")
        await _run(client)


async def _run(client: asyncssh.SSHServerProcess[bytes]) -> None:
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        client.command or "exit 0",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        env={name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ},
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    feeding = asyncio.create_task(_feed(client.stdin, process.stdin))
    passing = [
        asyncio.create_task(_pass_on(process.stdout, client.stdout)),
        asyncio.create_task(_pass_on(process.stderr, client.stderr)),
    ]
    try:
        # Its wait() waits for the pipes as well, which a child may hold for longer.
        while (code := process.returncode) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await asyncio.wait(passing, timeout=SECONDS_FOR_THE_REST)
        if code < 0:
            client.exit_with_signal("KILL" if code == -9 else "TERM")
        else:
            client.exit(code)
    finally:
        for task in (feeding, *passing):
            task.cancel()
        process._transport.close()  # type: ignore[attr-defined] - kills it; also if cancelled
        await process.wait()


async def _feed(source: asyncssh.SSHReader[bytes], target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, asyncssh.Error):
        while piece := await source.read(65_536):
            target.write(piece)
            await target.drain()
    target.close()


async def _pass_on(source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]) -> None:
    """To the end, also if nobody listens any more: what was started goes on."""
    lost = False
    while piece := await source.read(65_536):
        if not lost:
            try:
                target.write(piece)
                await target.drain()
            except (OSError, asyncssh.Error):
                lost = True
