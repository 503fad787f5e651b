"""Another machine over SSH: one connection, made again when it is lost, and a channel a process."""

from __future__ import annotations

import asyncio
import errno
import os
import shlex
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from tools.environments.async_host import HostLoop, import_extra
from tools.environments.host import Completed, Health, Host, HostError, Isolation
from tools.environments.ssh_channel import SshChannel
from tools.environments.ssh_settings import (
    SECONDS_TO_CONNECT,
    Destination,
    arguments_of,
    explain,
)

T = TypeVar("T")

SECONDS_TO_OPEN = 20.0
SECONDS_FOR_A_SIGN = 4.0
SECONDS_FOR_A_FILE = 300.0
TERMINAL = "xterm-256color"


class _FileError(HostError):
    """On its way from the loop: what the machine said about one file."""

    def __init__(self, number: int, path: str, text: str = "") -> None:
        super().__init__(text)
        self.error = OSError(number, text or os.strerror(number), path)


class SshHost(Host):
    """A machine that one logs in to. Nothing is sent before it is needed.

    A person's other machine is worth as much as this one, so it does not count as isolated.
    """

    isolation = Isolation(isolated=False)

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self.name = str(destination)
        self._asyncssh = import_extra("asyncssh", "ssh")
        self._loop = HostLoop("SSH", lambda error: explain(destination, error))
        self._connecting = asyncio.Lock()  # guards the next two; used on the loop
        self._connection: Any = None
        self._files: Any = None
        self._home = ""
        self._closed = False

    def open(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> SshChannel:
        return self._loop.call(
            self._open(_command(argv, cwd, env), pty),
            timeout=SECONDS_TO_CONNECT + SECONDS_TO_OPEN,
            doing=f"starting a process on {self.destination}",
        )

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout: float = 30.0) -> Completed:
        return self._loop.call(
            self._run(_command(argv, None, None), stdin, within=timeout),
            timeout=SECONDS_TO_CONNECT + timeout + SECONDS_FOR_A_SIGN,
            doing=f"running {argv[0]} on {self.destination}",
        )

    def get(self, path: str) -> bytes:
        return self._transfer(self._get(path), f"reading {path}")

    def put(self, path: str, content: bytes, mode: int = 0o644) -> None:
        self._transfer(self._put(path, content, mode), f"writing {path}")

    def home(self) -> str:
        if not self._home:
            done = self.run(["sh", "-c", 'printf %s "${HOME:-/}"'])
            self._home = done.out.decode("utf-8", "surrogateescape") or "/"
        return self._home

    def health(self) -> Health:
        try:
            version = self._loop.call(
                self._version(), timeout=SECONDS_TO_CONNECT, doing="looking whether it is there"
            )
        except HostError as problem:
            return Health(False, str(problem))
        return Health(True, f"{self.destination}, {version}")

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            try:
                self._loop.call(self._disconnect(), timeout=SECONDS_FOR_A_SIGN, doing="leaving")
            finally:
                self._loop.close()

    def _transfer(self, awaitable: Awaitable[T], doing: str) -> T:
        try:
            return self._loop.call(awaitable, timeout=SECONDS_FOR_A_FILE, doing=doing)
        except _FileError as problem:
            raise problem.error from problem

    async def _connected(self) -> Any:
        """The connection, made if there is none."""
        if self._closed:
            raise HostError(f"the connection to {self.destination} is closed")
        async with self._connecting:
            if self._connection is None or self._connection.is_closed():
                self._files = None
                self._connection = await self._asyncssh.connect(**arguments_of(self.destination))
            return self._connection

    async def _open(self, command: str, pty: bool) -> SshChannel:
        connection = await self._connected()
        channel = SshChannel(self._loop)
        try:
            await asyncio.wait_for(
                connection.create_session(
                    lambda: channel,
                    command,
                    encoding=None,
                    request_pty="force" if pty else False,
                    term_type=TERMINAL if pty else None,
                ),
                SECONDS_TO_OPEN,
            )
        except BaseException:
            channel.close()
            raise
        return channel

    async def _run(self, command: str, stdin: bytes, *, within: float) -> Completed:
        connection = await self._connected()
        try:
            done = await asyncio.wait_for(
                connection.run(command, input=stdin, encoding=None), within
            )
        except TimeoutError as error:
            await self._drop_if_dead(connection)
            raise HostError(f"a process on {self.destination} took over {within:g} s") from error
        if done.returncode is None:
            raise HostError(f"the connection to {self.destination} was lost")
        code = done.returncode
        return Completed(code if code >= 0 else 128 - code, done.stdout, done.stderr)

    async def _drop_if_dead(self, connection: Any) -> None:
        """Let go of a connection that gives no sign of life, so that the next call makes one."""
        try:
            await asyncio.wait_for(connection.run("true"), SECONDS_FOR_A_SIGN)
        except (TimeoutError, OSError, self._asyncssh.Error):
            connection.abort()

    async def _version(self) -> str:
        connection = await self._connected()
        try:
            await asyncio.wait_for(connection.run("true"), SECONDS_FOR_A_SIGN)
        except TimeoutError:
            connection.abort()
            raise
        said: str = connection.get_extra_info("server_version", "SSH")
        return said.removeprefix("SSH-2.0-")

    async def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            await self._connection.wait_closed()

    async def _sftp(self) -> Any:
        connection = await self._connected()
        async with self._connecting:
            if self._files is None:
                self._files = await connection.start_sftp_client()
            return self._files

    async def _get(self, path: str) -> bytes:
        sftp = await self._sftp()
        try:
            if await sftp.isdir(path):
                raise _FileError(errno.EISDIR, path)
            async with sftp.open(path, "rb") as file:
                content: bytes = await file.read()
                return content
        except self._asyncssh.SFTPError as error:
            raise self._file_error(error, path) from error

    async def _put(self, path: str, content: bytes, mode: int) -> None:
        sftp = await self._sftp()
        beside = f"{path}.hermes-{uuid.uuid4().hex[:12]}"
        try:
            if await sftp.isdir(path):
                raise _FileError(errno.EISDIR, path)
            target = await sftp.realpath(path) if await sftp.islink(path) else path
            try:
                async with sftp.open(beside, "wb") as file:
                    await file.write(content)
                await sftp.chmod(beside, mode)
                await sftp.posix_rename(beside, target)
            except self._asyncssh.SFTPError:
                if await sftp.exists(beside):
                    await sftp.remove(beside)
                raise
        except self._asyncssh.SFTPError as error:
            raise self._file_error(error, path) from error

    def _file_error(self, error: Exception, path: str) -> HostError:
        asyncssh = self._asyncssh
        match error:
            case asyncssh.SFTPNoSuchFile() | asyncssh.SFTPNoSuchPath():
                return _FileError(errno.ENOENT, path)
            case asyncssh.SFTPPermissionDenied() | asyncssh.SFTPWriteProtect():
                return _FileError(errno.EACCES, path)
            case asyncssh.SFTPConnectionLost() | asyncssh.SFTPNoConnection():
                return HostError(f"the connection to {self.destination} was lost")
            case asyncssh.SFTPNoSpaceOnFilesystem() | asyncssh.SFTPQuotaExceeded():
                return _FileError(errno.ENOSPC, path)
            case _:  # this version of the protocol has no more words
                return _FileError(errno.EIO, path, f"{error} (is the disk there full?)")


def _command(argv: Sequence[str], cwd: str | None, env: Mapping[str, str] | None) -> str:
    """For the login shell there, whichever it is. What is sent as variables most servers drop."""
    given = [f"{name}={value}" for name, value in (env or {}).items()]
    program = shlex.join(["env", *given, *argv] if given else argv)
    return f"cd {shlex.quote(cwd)} && exec {program}" if cwd else f"exec {program}"
