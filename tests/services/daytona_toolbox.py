"""The daemon in a sandbox of the stand-in for Daytona: commands, files and terminals.

What is known of the real one is kept where it matters: a command's output is text, both streams
in one; a terminal starts a login shell, a client that is too slow is cut off, and what was not
sent yet when the shell ends is lost.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
from pathlib import Path
from typing import Any

from aiohttp import MultipartWriter, WSCloseCode, WSMsgType, web

from tests.services.daytona_problem import problem
from tests.services.machines import exited, terminal_reader, write_terminal

QUEUED = 256  # messages that wait for one client of a terminal
MESSAGE_LIMIT = 64 * 1024  # bytes of one message of a client
ENVS = "X-Daytona-Pty-Envs~"


class Terminal:
    """A login shell that has a terminal, and the one client who watches it."""

    def __init__(self, process: asyncio.subprocess.Process, descriptor: int) -> None:
        self.process = process
        self.descriptor = descriptor
        self.outgoing: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)
        self.slow = asyncio.Event()
        self.sent = 0
        self.recording = asyncio.create_task(self._record())

    async def _record(self) -> None:
        reader, transport = await terminal_reader(self.descriptor)
        try:
            while part := await reader.read(4096):
                try:
                    self.outgoing.put_nowait(part)
                except asyncio.QueueFull:
                    self.slow.set()
        except OSError:  # so a terminal ends
            pass
        finally:
            transport.close()

    async def send(self, client: web.WebSocketResponse) -> None:
        while True:
            part = await self.outgoing.get()
            await client.send_bytes(part)
            self.sent += len(part)

    async def receive(self, client: web.WebSocketResponse) -> None:
        async for message in client:
            if message.type in (WSMsgType.BINARY, WSMsgType.TEXT):
                data = message.data
                await write_terminal(
                    self.descriptor, data if isinstance(data, bytes) else data.encode()
                )

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGHUP)
            os.killpg(self.process.pid, signal.SIGKILL)
        self.recording.cancel()


class Toolbox:
    def __init__(self, server: Any) -> None:
        self.server = server

    def routes(self) -> list[web.RouteDef]:
        root = "/toolbox/{sandbox}"
        return [
            web.get(f"{root}/user-home-dir", self.home),
            web.get(f"{root}/work-dir", self.home),
            web.post(f"{root}/process/execute", self.execute),
            web.get(f"{root}/process/pty/create-connect", self.open_terminal),
            web.delete(f"{root}/process/pty/{{terminal}}", self.kill_terminal),
            web.post(f"{root}/files/bulk-upload", self.upload),
            web.post(f"{root}/files/bulk-download", self.download),
        ]

    def _running(self, request: web.Request) -> Any:
        sandbox = self.server.find(request)
        if sandbox.state != "started":
            raise problem(400, f"Sandbox is not running (state: {sandbox.state})")
        return sandbox

    async def home(self, request: web.Request) -> web.Response:
        return web.json_response({"dir": str(self._running(request).machine.home)})

    async def execute(self, request: web.Request) -> web.Response:
        sandbox, asked = self._running(request), await request.json()
        env = {**(sandbox.request.get("env") or {}), **(asked.get("envs") or {})}
        argv = [self.server.login_shell, "-c", asked["command"]]
        process = await sandbox.machine.start(argv, asked.get("cwd"), env)
        process.stdin.close()
        try:
            out, err = await asyncio.wait_for(process.communicate(), asked.get("timeout") or 360)
        except TimeoutError:
            process.kill()
            raise problem(408, "command execution timeout") from None
        text = (out + err).decode(errors="replace")
        return web.json_response({"exitCode": process.returncode, "result": text})

    async def open_terminal(self, request: web.Request) -> web.StreamResponse:
        sandbox, asked = self._running(request), request.query
        offered = [part.strip() for part in request.headers["Sec-WebSocket-Protocol"].split(",")]
        env = dict(sandbox.request.get("env") or {})
        for protocol in offered:
            if protocol.startswith(ENVS):
                packed = protocol.removeprefix(ENVS)
                env |= json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
        process, descriptor = await sandbox.machine.start_in_terminal(
            [self.server.login_shell, "-i", "-l"],
            asked.get("cwd"),
            env,
            (int(asked["rows"]), int(asked["cols"])),
        )
        os.set_blocking(descriptor, False)
        terminal = sandbox.terminals[asked["id"]] = Terminal(process, descriptor)
        client = web.WebSocketResponse(protocols=offered, max_msg_size=MESSAGE_LIMIT)
        await client.prepare(request)
        await client.send_str(json.dumps({"type": "control", "status": "connected"}))
        await self._serve(terminal, client)
        sandbox.terminals.pop(asked["id"], None)
        return client

    async def _serve(self, terminal: Terminal, client: web.WebSocketResponse) -> None:
        ended = asyncio.create_task(exited(terminal.process))
        slow = asyncio.create_task(terminal.slow.wait())
        talking = [
            asyncio.create_task(terminal.send(client)),
            asyncio.create_task(terminal.receive(client)),
        ]
        try:
            await asyncio.wait({ended, slow, *talking}, return_when=asyncio.FIRST_COMPLETED)
            if slow.done():
                await client.close(code=WSCloseCode.POLICY_VIOLATION, message=b"slow consumer")
            elif ended.done():
                code = max(ended.result(), -1)  # a signal is no exit code there
                said = json.dumps({"exitCode": code})
                await client.close(
                    code=WSCloseCode.INTERNAL_ERROR if code else WSCloseCode.OK,
                    message=said.encode(),
                )
        finally:  # the shell goes on without its client
            for task in (slow, *talking):
                task.cancel()
            ended.cancel()
            if terminal.process.returncode is not None:
                terminal.recording.cancel()

    async def kill_terminal(self, request: web.Request) -> web.Response:
        terminal = self._running(request).terminals.pop(request.match_info["terminal"], None)
        if terminal is None:
            raise problem(404, "PTY session not found")
        terminal.kill()
        return web.json_response({"message": "PTY session deleted"})

    async def upload(self, request: web.Request) -> web.Response:
        self._running(request)
        paths: dict[str, Path] = {}
        async for part in await request.multipart():
            key, kind = part.name.rsplit(".", 1)
            if kind == "path":
                paths[key] = Path((await part.read()).decode())
                continue
            paths[key].parent.mkdir(parents=True, exist_ok=True)
            with paths[key].open("wb") as file:
                while piece := await part.read_chunk(1 << 16):
                    file.write(piece)
        return web.json_response({})

    async def download(self, request: web.Request) -> web.Response:
        self._running(request)
        with MultipartWriter("form-data") as parts:
            for path in (await request.json())["paths"]:
                name, kind, data = _content(Path(path))
                part = parts.append(data, {"Content-Type": kind})
                part.set_content_disposition(
                    "form-data", quote_fields=False, name=name, filename=path
                )
        return web.Response(body=parts)


def _content(path: Path) -> tuple[str, str, bytes]:
    try:
        return "file", "application/octet-stream", path.read_bytes()
    except OSError as error:
        said = {"message": str(error), "statusCode": 404, "code": "not_found"}
        return "error", "application/json", json.dumps(said).encode()
