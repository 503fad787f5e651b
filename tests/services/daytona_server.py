"""A stand-in for Daytona: as much of its API and of its daemon in a sandbox as we use.

Set ``DAYTONA_API_URL`` to `DaytonaServer.url` and give the library `KEY`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import socketio
from aiohttp import web

from tests.services.daytona_problem import problem
from tests.services.daytona_toolbox import Toolbox
from tests.services.machines import Machine
from tests.services.threads import LoopInThread

KEY = "right"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Sandbox:
    """One sandbox; ``state`` is as the API names it."""

    def __init__(self, request: dict[str, Any], machine: Machine) -> None:
        self.id = machine.name
        self.name = request.get("name") or self.id
        self.request = request
        self.machine = machine
        self.state = "started"
        self.error = ""
        self.terminals: dict[str, Any] = {}
        self.created = datetime.now(UTC).isoformat()

    def stop(self, state: str) -> None:
        self.state = state
        self.machine.halt()

    def as_json(self, toolbox: str) -> dict[str, Any]:
        asked = self.request
        return {
            "id": self.id,
            "organizationId": "org",
            "name": self.name,
            "snapshot": asked.get("snapshot") or "daytona-small",
            "user": asked.get("user") or "daytona",
            "env": asked.get("env") or {},
            "labels": asked.get("labels") or {},
            "public": False,
            "networkBlockAll": bool(asked.get("networkBlockAll")),
            "kvm": False,
            "target": "local",
            "cpu": asked.get("cpu") or 1,
            "gpu": 0,
            "memory": asked.get("memory") or 1,
            "disk": asked.get("disk") or 3,
            "state": self.state,
            "desiredState": self.state,
            "errorReason": self.error or None,
            "autoStopInterval": asked.get("autoStopInterval", 15),
            "autoDeleteInterval": asked.get("autoDeleteInterval", -1),
            "createdAt": self.created,
            "updatedAt": datetime.now(UTC).isoformat(),
            "toolboxProxyUrl": toolbox,
            "runnerId": "runner",
        }


class DaytonaServer:
    """The server, in a thread; a context manager.

    Attributes
    ----------
    calls
        How often each route was called: ``POST /sandbox``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: Counter[str] = Counter()
        self.sandboxes: dict[str, Sandbox] = {}
        self.broken_images: dict[str, str] = {}
        self.quota: int | None = None
        self.login_shell = "bash"
        self._faults: dict[str, list[int]] = {}
        self._thread = LoopInThread()
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def toolbox_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/toolbox"

    def __enter__(self) -> DaytonaServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for sandbox in list(self.sandboxes.values()):
            sandbox.machine.destroy()
        self._thread.stop()

    def start(self) -> None:
        """Listen; on the same port as before, if it did before."""
        self._thread.call(self._start())

    def stop(self) -> None:
        """Cut all connections and refuse new ones. The sandboxes go on."""
        self._thread.call(self._stop())

    def fail(self, route: str, status: int, *, times: int = 1) -> None:
        """Answer the next calls of ``route`` with an error; status 0 is no answer at all."""
        self._faults[route] = [status] * times

    def heal(self) -> None:
        self._faults.clear()

    def end_sandboxes(self) -> None:
        """Delete them all, as a person may do on the web page."""

        async def end() -> None:
            for sandbox in list(self.sandboxes.values()):
                self._delete(sandbox)

        self._thread.call(end())

    def find(self, request: web.Request) -> Sandbox:
        key = request.match_info["sandbox"]
        for sandbox in self.sandboxes.values():
            if key in (sandbox.id, sandbox.name):
                return sandbox
        raise problem(404, f"Sandbox with ID or name {key} not found")

    async def _start(self) -> None:
        app = web.Application(middlewares=[self._admit], client_max_size=1 << 30)
        notices = socketio.AsyncServer(async_mode="aiohttp", cors_allowed_origins="*")
        notices.attach(app, socketio_path="api/socket.io")
        app.add_routes(
            [
                web.post("/api/sandbox", self.create),
                web.get("/api/sandbox/{sandbox}", self.get),
                web.delete("/api/sandbox/{sandbox}", self.delete),
                web.post("/api/sandbox/{sandbox}/start", self.start_sandbox),
                web.post("/api/sandbox/{sandbox}/stop", self.stop_sandbox),
                web.get("/api/sandbox/{sandbox}/toolbox-proxy-url", self.toolbox_proxy_url),
                *Toolbox(self).routes(),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        if self._runner is not None:
            for connection in list(self._runner.server.connections if self._runner.server else []):
                if connection.transport is not None:
                    connection.transport.abort()
            await self._runner.cleanup()
            self._runner = None

    @web.middleware
    async def _admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        route = _route(request)
        self.calls[route] += 1
        is_api = not request.path.startswith("/api/socket.io")
        if is_api and request.headers.get("Authorization") != f"Bearer {KEY}":
            raise problem(401, "Invalid credentials")
        if faults := self._faults.get(route):
            status = faults.pop()
            if not status:
                await asyncio.Event().wait()
            raise problem(status, "on purpose")
        return await handler(request)

    async def create(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if self.quota is not None and len(self.sandboxes) >= self.quota:
            raise problem(403, "Total CPU quota exceeded (10 > 10)")
        name = asked.get("name")
        if name and any(sandbox.name == name for sandbox in self.sandboxes.values()):
            raise problem(409, f"Sandbox with name {name} already exists")
        identity = str(uuid.uuid4())
        sandbox = Sandbox(asked, Machine(identity, self.folder / identity))
        build = (asked.get("buildInfo") or {}).get("dockerfileContent", "")
        for image, said in self.broken_images.items():
            if image in build:
                sandbox.state, sandbox.error = "build_failed", said
        self.sandboxes[identity] = sandbox
        return web.json_response(sandbox.as_json(self.toolbox_url))

    async def get(self, request: web.Request) -> web.Response:
        return web.json_response(self.find(request).as_json(self.toolbox_url))

    async def delete(self, request: web.Request) -> web.Response:
        sandbox = self.find(request)
        self._delete(sandbox)
        return web.json_response(sandbox.as_json(self.toolbox_url))

    def _delete(self, sandbox: Sandbox) -> None:
        sandbox.stop("destroyed")
        sandbox.machine.destroy()
        del self.sandboxes[sandbox.id]

    async def start_sandbox(self, request: web.Request) -> web.Response:
        sandbox = self.find(request)
        sandbox.state = "started"
        sandbox.machine.alive = True
        return web.json_response(sandbox.as_json(self.toolbox_url))

    async def stop_sandbox(self, request: web.Request) -> web.Response:
        sandbox = self.find(request)
        sandbox.stop("stopped")
        if sandbox.request.get("autoDeleteInterval") == 0:
            self._delete(sandbox)
        return web.json_response(sandbox.as_json(self.toolbox_url))

    async def toolbox_proxy_url(self, _: web.Request) -> web.Response:
        return web.json_response({"url": self.toolbox_url})


def _route(request: web.Request) -> str:
    """The request without names: ``POST /sandbox/start``, ``POST /process/execute``."""
    parts = request.path.split("/")[2:]
    if parts[:1] == ["sandbox"]:
        parts = ["sandbox", *parts[2:]]
    elif request.path.startswith("/toolbox"):
        parts = parts[1:]
    return f"{request.method} /{'/'.join(parts)}"
