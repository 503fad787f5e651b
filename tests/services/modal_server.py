"""A stand-in for Modal: as much of its servers as its unchanged library needs for sandboxes.

Both services, the control plane and the router of commands, are one gRPC server on this machine.
Set ``MODAL_SERVER_URL`` to `ModalServer.url` and give the library `TOKEN`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from grpclib import GRPCError, Status
from grpclib.server import Server
from modal_proto import api_pb2 as api
from modal_proto.api_grpc import ModalClientBase

from tests.services.grpc_service import answers
from tests.services.machines import Machine
from tests.services.modal_router import Exec, RouterCalls
from tests.services.threads import LoopInThread

TOKEN = ("ak-right", "as-right")
LONG_POLL = 55.0


class Sandbox:
    def __init__(self, identity: str, definition: api.Sandbox, machine: Machine) -> None:
        self.id = identity
        self.task = f"ta-{identity[3:]}"
        self.definition = definition
        self.machine = machine
        self.env: dict[str, str] = {}
        self.execs: dict[str, Exec] = {}
        self.result: api.GenericResult | None = None
        self.finished = asyncio.Event()

    def finish(self, status: int, code: int) -> None:
        if self.result is None:
            self.result = api.GenericResult(status=status, exitcode=code)
            self.machine.destroy()
            self.finished.set()


class ModalServer:
    """The server, in a thread; a context manager.

    Attributes
    ----------
    calls
        How often each rpc was called.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: Counter[str] = Counter()
        self.sandboxes: dict[str, Sandbox] = {}
        self.images: dict[str, Path | None] = {}  # the files of one made from a sandbox
        self.published: dict[str, str] = {}
        self.broken_images: dict[str, str] = {}
        self._faults: dict[str, list[GRPCError | None]] = {}
        self._thread = LoopInThread()
        self._server: CuttableServer | None = None
        self.port = 0
        self.token_lifetime = 3600

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> ModalServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for sandbox in self.sandboxes.values():
            sandbox.machine.destroy()
        self._thread.stop()

    def start(self) -> None:
        """Listen; on the same port as before, if it did before."""
        self._thread.call(self._start())

    def stop(self) -> None:
        """Cut all connections and refuse new ones. The sandboxes go on."""
        self._thread.call(self._stop())

    def fail(
        self, rpc: str, status: Status, message: str = "on purpose", *, times: int = 1
    ) -> None:
        """Answer the next calls of ``rpc`` with an error."""
        self._faults[rpc] = [GRPCError(status, message)] * times

    def hang(self, rpc: str, *, times: int = 1) -> None:
        """Never answer the next calls of ``rpc``."""
        self._faults[rpc] = [None] * times

    def heal(self) -> None:
        self._faults.clear()

    def end_sandboxes(self, status: int = api.GenericResult.GENERIC_STATUS_TIMEOUT) -> None:
        """What happens when the time of all sandboxes is over."""

        async def end() -> None:
            for sandbox in self.running():
                sandbox.finish(status, 137)

        self._thread.call(end())

    def running(self) -> list[Sandbox]:
        return [sandbox for sandbox in self.sandboxes.values() if sandbox.result is None]

    async def admit(self, rpc: str, metadata: Any) -> None:
        """Count a call, check the token, and let it fail if a test wants that."""
        self.calls[rpc] += 1
        token = (metadata.get("x-modal-token-id"), metadata.get("x-modal-token-secret"))
        if token[0] is not None and token != TOKEN:
            raise GRPCError(Status.UNAUTHENTICATED, f"Token {token[0]!r} is not valid")
        if (bearer := metadata.get("authorization")) and not still_valid(bearer):
            raise GRPCError(Status.UNAUTHENTICATED, "The token has expired")
        if faults := self._faults.get(rpc):
            fault = faults.pop()
            if fault is None:
                await asyncio.Event().wait()
            else:
                raise fault

    def sandbox_of_task(self, task: str) -> Sandbox:
        for sandbox in self.sandboxes.values():
            if sandbox.task == task:
                return sandbox
        raise GRPCError(Status.NOT_FOUND, f"Task {task} not found")

    def add_image(self, files: Path | None) -> str:
        identity = new_id("im")
        self.images[identity] = files
        return identity

    def add_sandbox(self, request: api.SandboxCreateV2Request) -> Sandbox:
        name = request.definition.name
        if name and any(other.definition.name == name for other in self.running()):
            raise GRPCError(Status.ALREADY_EXISTS, f"Sandbox named {name!r} already exists")
        identity = new_id("sb-v2")  # as long as one of the first version, it would be taken for it
        # The same folder each time for one name: the files of a snapshot are where they were.
        machine = Machine(identity, self.folder / "homes" / (name or identity))
        files = self.images.get(request.definition.image_id)
        if files is not None:
            shutil.rmtree(machine.home)
            shutil.copytree(files, machine.home, symlinks=True)
        sandbox = Sandbox(identity, request.definition, machine)
        for source in request.secret_sources:
            sandbox.env.update(source.env.contents)
        self.sandboxes[identity] = sandbox
        return sandbox

    async def _start(self) -> None:
        self._server = CuttableServer([ControlPlane(self), RouterCalls(self)])
        await self._server.start("127.0.0.1", self.port)
        self.port = self._server.port

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server.cut()
            await self._server.wait_closed()
            self._server = None


class CuttableServer(Server):
    """A gRPC server that can cut its connections."""

    def __init__(self, services: Any) -> None:
        super().__init__(services)
        self._protocols: list[Any] = []

    @property
    def port(self) -> int:
        assert self._server is not None
        number: int = self._server.sockets[0].getsockname()[1]
        return number

    def cut(self) -> None:
        for protocol in self._protocols:
            transport = getattr(protocol.connection, "_transport", None)
            if transport is not None:  # it is not closed already
                transport.abort()

    def _protocol_factory(self) -> Any:
        protocol = super()._protocol_factory()
        self._protocols.append(protocol)
        return protocol


def new_id(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex[:22]}"


def web_token(lifetime: int = 3600) -> str:
    """A token with an expiry; nobody checks its signature here."""

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'none'})}.{part({'exp': int(time.time()) + lifetime})}.c2ln"


def still_valid(bearer: str) -> bool:
    packed = bearer.removeprefix("Bearer ").split(".")[1]
    expiry: float = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))["exp"]
    return time.time() < expiry


class _ControlPlane:
    def __init__(self, server: ModalServer) -> None:
        self.server = server

    def _sandbox(self, identity: str) -> Sandbox:
        try:
            return self.server.sandboxes[identity]
        except KeyError:
            raise GRPCError(Status.NOT_FOUND, f"Sandbox {identity} not found") from None

    def _access(self) -> str:
        return web_token(self.server.token_lifetime)

    async def ClientHello(self, _: Any) -> api.ClientHelloResponse:
        return api.ClientHelloResponse(image_builder_version="2025.06")

    async def AuthTokenGet(self, _: Any) -> api.AuthTokenGetResponse:
        return api.AuthTokenGetResponse(token=web_token())

    async def EnvironmentGetOrCreate(self, _: Any) -> api.EnvironmentGetOrCreateResponse:
        settings = api.EnvironmentSettings(image_builder_version="2025.06")
        metadata = api.EnvironmentMetadata(name="main", settings=settings)
        return api.EnvironmentGetOrCreateResponse(environment_id="en-1", metadata=metadata)

    async def AppGetOrCreate(self, _: Any) -> api.AppGetOrCreateResponse:
        return api.AppGetOrCreateResponse(app_id="ap-1")

    async def ImageGetOrCreate(self, request: Any) -> api.ImageGetOrCreateResponse:
        commands = " ".join(request.image.dockerfile_commands)
        status, said = api.GenericResult.GENERIC_STATUS_SUCCESS, ""
        for name, message in self.server.broken_images.items():
            if name in commands:
                status, said = api.GenericResult.GENERIC_STATUS_FAILURE, message
        return api.ImageGetOrCreateResponse(
            image_id=self.server.add_image(None),
            result=api.GenericResult(status=status, exception=said),
            metadata=api.ImageMetadata(),
        )

    async def ImagePublish(self, request: Any) -> api.ImagePublishResponse:
        self.server.published[request.tag] = request.image_id
        return api.ImagePublishResponse(image_id=request.image_id)

    async def ImageGetByTag(self, request: Any) -> api.ImageGetByTagResponse:
        if request.tag not in self.server.published:
            raise GRPCError(Status.NOT_FOUND, f"Image {request.tag!r} not found")
        return api.ImageGetByTagResponse(image_id=self.server.published[request.tag])

    async def SandboxCreateV2(self, request: Any) -> api.SandboxCreateV2Response:
        sandbox = self.server.add_sandbox(request)
        return api.SandboxCreateV2Response(
            sandbox_id=sandbox.id,
            task_id=sandbox.task,
            sandbox_token="token",
            command_router_access=api.CommandRouterAccess(url=self.server.url, jwt=self._access()),
        )

    async def SandboxGetFromNameV2(self, request: Any) -> api.SandboxGetFromNameResponse:
        for sandbox in self.server.running():
            if sandbox.definition.name == request.sandbox_name:
                return api.SandboxGetFromNameResponse(sandbox_id=sandbox.id)
        raise GRPCError(Status.NOT_FOUND, f"Sandbox {request.sandbox_name!r} not found")

    SandboxGetFromName = SandboxGetFromNameV2

    async def SandboxGetTaskIdV2(self, request: Any) -> api.SandboxGetTaskIdResponse:
        sandbox = self._sandbox(request.sandbox_id)
        if sandbox.result is not None:
            return api.SandboxGetTaskIdResponse(task_result=sandbox.result)
        return api.SandboxGetTaskIdResponse(task_id=sandbox.task)

    async def SandboxGetCommandRouterAccess(
        self, request: Any
    ) -> api.SandboxGetCommandRouterAccessResponse:
        if self._sandbox(request.sandbox_id).result is not None:
            raise GRPCError(Status.FAILED_PRECONDITION, "Sandbox has already finished")
        return api.SandboxGetCommandRouterAccessResponse(url=self.server.url, jwt=self._access())

    async def SandboxWaitV2(self, request: Any) -> api.SandboxWaitResponse:
        sandbox = self._sandbox(request.sandbox_id)
        if sandbox.result is None and request.timeout > 0:
            waiting = sandbox.finished.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(waiting, min(request.timeout, LONG_POLL))
        return api.SandboxWaitResponse(result=sandbox.result or api.GenericResult())

    async def SandboxTerminateV2(self, request: Any) -> api.SandboxTerminateResponse:
        sandbox = self._sandbox(request.sandbox_id)
        sandbox.finish(api.GenericResult.GENERIC_STATUS_TERMINATED, 137)
        return api.SandboxTerminateResponse(existing_result=sandbox.result)


ControlPlane: Any = answers(ModalClientBase)(_ControlPlane)
