"""What waits in all kernels, and answers to it, over the kernels' control channels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tornado.web import HTTPError

from hermes_jupyter.server.kernels import Refused, Silent, UnknownKernel, Unloaded
from hermes_jupyter.server.routes.base import Route, allowed

FIELDS: Mapping[str, frozenset[str]] = {
    "answer": frozenset({"request", "digest", "choice", "note", "edited", "by"}),
    "reply": frozenset({"question", "digest", "text", "by"}),
    "say": frozenset({"turn", "text"}),
    "stop": frozenset({"turn"}),
}
STATUS: Mapping[str, int] = {
    "invalid": 400, "protocol": 501, "unknown": 404, "digest": 409, "answered": 409, "stale": 409,
}  # fmt: skip
"""What the kernel's refusals are in HTTP."""


class Pending(Route):
    """``GET api/pending``: what waits and runs, kernel by kernel."""

    @allowed("read", "kernels")
    async def get(self) -> None:
        self.send({"kernels": await self.extension.kernels.pending()})


class Status(Route):
    """``GET api/kernels/ID/status``."""

    @allowed("read", "kernels")
    async def get(self, kernel: str) -> None:
        self.send(await _asked(self, kernel, "status", {}))


class Doing(Route):
    """``POST api/kernels/ID/answer``, ``reply``, ``say`` and ``stop``.

    To allow a call is to run it: it takes the right to execute in kernels.
    """

    @allowed("execute", "kernels")
    async def post(self, kernel: str, do: str) -> None:
        told = self.json_object()
        if strange := sorted(set(told) - FIELDS[do]):
            raise HTTPError(400, f"this request has no field {strange[0][:60]!r}")
        self.send(await _asked(self, kernel, do, told))


async def _asked(route: Route, kernel: str, do: str, about: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return await route.extension.kernels.ask(kernel, do, **about)
    except (UnknownKernel, Unloaded) as unknown:
        raise HTTPError(404, str(unknown)) from None
    except Silent as silent:
        said = f"{silent}; whether it has got this is not known" if about else str(silent)
        raise HTTPError(504, said) from None
    except Refused as refused:
        raise HTTPError(STATUS.get(refused.code, 502), f"{refused.code}: {refused}") from None
