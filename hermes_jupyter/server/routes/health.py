"""Whether all is well, and what was used."""

from __future__ import annotations

import hermes_jupyter
from hermes_jupyter.server.routes.base import Route, allowed


class Health(Route):
    """``GET api/health``."""

    @allowed("read")
    async def get(self) -> None:
        problem = await self.in_thread(lambda: self.extension.reader.problem())
        self.send(
            {
                "status": "degraded" if problem or self.extension.problem else "ok",
                "version": hermes_jupyter.__version__,
                "kernels": len(self.extension.kernels.ids),
                "store": problem or "ok",
                "models": self.extension.problem or [*self.extension.models],
            }
        )


class Used(Route):
    """``GET api/usage``: what conversations took, and what kernels took through the server."""

    @allowed("read")
    async def get(self) -> None:
        sessions = await self.in_thread(lambda: self.extension.reader.used())
        taken = await self.in_thread(lambda: self.extension.ledger.told())
        self.send({"sessions": sessions, "via_server": taken})
