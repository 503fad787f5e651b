"""A gRPC service from a class with one method for each rpc that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grpclib import GRPCError, Status


def answers(base: Any) -> Callable[[type], type]:
    """Make a gRPC service of a class: each method ``async (self, request)`` is one rpc.

    Those it does not have are answered with UNIMPLEMENTED.
    """

    def build(cls: type) -> type:
        methods: dict[str, Any] = {}
        for rpc in base.__abstractmethods__:
            methods[rpc] = _handler(rpc, getattr(cls, rpc, None))
        return type(cls.__name__, (cls, base), methods)

    return build


def _handler(rpc: str, method: Any) -> Any:
    async def handle(self: Any, stream: Any) -> None:
        await self.server.admit(rpc, stream.metadata)
        if method is None:
            raise GRPCError(Status.UNIMPLEMENTED, f"The stand-in has no {rpc}")
        if getattr(method, "streams", False):
            await method(self, stream)
        else:
            await stream.send_message(await method(self, await stream.recv_message()))

    return handle
