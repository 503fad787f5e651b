"""The router of commands of the stand-in for Modal: processes in a sandbox, by gRPC."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path
from typing import Any

from grpclib import GRPCError, Status
from modal_proto import task_command_router_pb2 as router
from modal_proto.task_command_router_grpc import TaskCommandRouterBase

from tests.services.grpc_service import answers
from tests.services.machines import Tape, exited, terminal_reader, write_terminal

LINGER = 1.0  # seconds that output is kept open for children, after the process itself


class Exec:
    """One process that was started in a sandbox."""

    def __init__(self) -> None:
        self.out = Tape()
        self.err = Tape()
        self.process: asyncio.subprocess.Process | None = None
        self.terminal: int | None = None
        self.written = 0
        self.input_closed = False
        self.input_lock = asyncio.Lock()
        self.ended = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def start(self, machine: Any, request: router.TaskExecStartRequest, env: Any) -> None:
        argv, cwd = list(request.command_args), request.workdir or None
        try:
            if request.pty_info.enabled:
                info = request.pty_info
                size = (info.winsz_rows or 24, info.winsz_cols or 80)
                self.process, self.terminal = await machine.start_in_terminal(argv, cwd, env, size)
            else:
                self.process = await machine.start(argv, cwd, env)
        except OSError as error:
            raise GRPCError(Status.INVALID_ARGUMENT, str(error)) from None
        self.task = asyncio.create_task(self._follow(request.timeout_secs))

    async def _follow(self, seconds: int) -> None:
        assert self.process is not None
        transport = None
        if self.terminal is None:
            sources = [(self.out, self.process.stdout), (self.err, self.process.stderr)]
        else:
            reader, transport = await terminal_reader(self.terminal)
            await self.err.end()
            sources = [(self.out, reader)]
        recording = [asyncio.create_task(tape.record(source)) for tape, source in sources]
        try:
            await asyncio.wait_for(exited(self.process), seconds or None)
        except TimeoutError:
            os.killpg(self.process.pid, signal.SIGKILL)
            await exited(self.process)
        self.ended.set()
        await asyncio.wait(recording, timeout=LINGER)
        if transport is not None:
            transport.close()

    async def feed(self, data: bytes, *, eof: bool) -> None:
        assert self.process is not None
        async with self.input_lock:
            try:
                if self.terminal is not None:
                    await write_terminal(self.terminal, data)
                elif self.process.stdin is not None and not self.input_closed:
                    self.process.stdin.write(data)
                    await self.process.stdin.drain()
            except OSError:
                raise GRPCError(Status.FAILED_PRECONDITION, "its input is closed") from None
            self.written += len(data)
            if eof and not self.input_closed:
                self.input_closed = True
                if self.process.stdin is not None:
                    self.process.stdin.close()

    def status(self) -> dict[str, int]:
        assert self.process is not None
        code = self.process.returncode
        if code is None or not self.ended.is_set():
            return {}
        return {"code": code} if code >= 0 else {"signal": -code}


class _Router:
    def __init__(self, server: Any) -> None:
        self.server = server

    def _running(self, task: str) -> Any:
        sandbox = self.server.sandbox_of_task(task)
        if sandbox.result is not None:
            raise GRPCError(Status.NOT_FOUND, "Sandbox has finished")
        return sandbox

    def _exec(self, request: Any) -> Exec:
        sandbox = self._running(request.task_id)
        if request.exec_id not in sandbox.execs:
            raise GRPCError(Status.NOT_FOUND, f"Exec {request.exec_id} not found")
        found: Exec = sandbox.execs[request.exec_id]
        return found

    async def TaskExecStart(self, request: Any) -> router.TaskExecStartResponse:
        sandbox = self._running(request.task_id)
        if request.exec_id not in sandbox.execs:  # the id makes a second try harmless
            env = {**sandbox.env, "MODAL_SANDBOX_ID": sandbox.id, **request.env}
            for source in request.secret_sources:
                env.update(source.env.contents)
            new = Exec()
            await new.start(sandbox.machine, request, env)
            sandbox.execs[request.exec_id] = new
        return router.TaskExecStartResponse()

    async def TaskExecStdioRead(self, stream: Any) -> None:
        request = await stream.recv_message()
        found, sandbox = self._exec(request), self._running(request.task_id)
        is_out = request.file_descriptor == router.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDOUT
        playing = (found.out if is_out else found.err).play(request.offset)
        gone = asyncio.ensure_future(sandbox.finished.wait())
        while True:
            part = asyncio.ensure_future(anext(playing, b""))
            await asyncio.wait({part, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not part.done():
                part.cancel()
                raise GRPCError(Status.NOT_FOUND, "Sandbox has finished")
            if not part.result():
                gone.cancel()
                return
            await stream.send_message(router.TaskExecStdioReadResponse(data=part.result()))

    TaskExecStdioRead.streams = True  # type: ignore[attr-defined]

    async def TaskExecPoll(self, request: Any) -> router.TaskExecPollResponse:
        return router.TaskExecPollResponse(**self._exec(request).status())

    async def TaskExecWait(self, request: Any) -> router.TaskExecWaitResponse:
        found = self._exec(request)
        await found.ended.wait()
        self._running(request.task_id)  # what a sandbox knew is gone with it
        return router.TaskExecWaitResponse(**found.status())

    async def TaskExecStdinWrite(self, request: Any) -> router.TaskExecStdinWriteResponse:
        found = self._exec(request)
        seen = max(0, found.written - request.offset)  # of a call that is sent again
        await found.feed(request.data[seen:], eof=request.eof)
        return router.TaskExecStdinWriteResponse()

    async def TaskExecStdinStatus(self, request: Any) -> router.TaskExecStdinStatusResponse:
        found = self._exec(request)
        return router.TaskExecStdinStatusResponse(
            num_bytes_written=found.written, closed=found.input_closed
        )

    async def TaskSnapshotFilesystem(self, request: Any) -> router.TaskSnapshotFilesystemResponse:
        sandbox = self._running(request.task_id)
        files = self.server.folder / "images" / request.snapshot_id
        shutil.copytree(sandbox.machine.home, files, symlinks=True, ignore=_not_kept)
        return router.TaskSnapshotFilesystemResponse(image_id=self.server.add_image(files))


def _not_kept(folder: str, names: list[str]) -> list[str]:
    """Pipes and sockets are not part of an image."""
    paths = [Path(folder, name) for name in names]
    kept = [path.is_symlink() or path.is_dir() or path.is_file() for path in paths]
    return [name for name, keep in zip(names, kept, strict=True) if not keep]


RouterCalls: Any = answers(TaskCommandRouterBase)(_Router)
