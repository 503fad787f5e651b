"""Lists what waits in kernels; one that hangs keeps nobody waiting, and is heard later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hermes_jupyter.server.line import SECONDS, Content, Line, Refused, Silent, Unloaded

BRIEF_SECONDS = 0.3
"""For so long a kernel that hangs, or of which nothing is known, is waited for."""
LATE_SECONDS = 600.0
"""For so long its answer is of use."""
NOTHING: Content = {"requests": [], "questions": [], "turns": []}
SILENT: Content = {"state": "silent", **NOTHING}
UNLOADED: Content = {"state": "unloaded", **NOTHING}
UNREACHABLE: Content = {"state": "unreachable", **NOTHING}


class Listing:
    """What waits, kernel by kernel. On the server's loop."""

    def __init__(self) -> None:
        self._asking: set[asyncio.Task[Content]] = set()
        self._hanging: dict[Line, asyncio.Task[Content]] = {}

    async def of(self, line: Line, late: Callable[[], None]) -> Content:
        """What waits in a kernel, or that it does not answer; ``late`` is called when it has."""
        is_swift = line.is_known and line not in self._hanging
        asking = self._hanging.get(line) or self._begin(line)
        await asyncio.wait({asking}, timeout=SECONDS if is_swift else BRIEF_SECONDS)
        if asking.done():
            return asking.result()
        if line not in self._hanging:
            self._hanging[line] = asking
            asking.add_done_callback(lambda task: self._answered(line, task, late))
        return SILENT

    def close(self) -> None:
        """Wait for nothing any more."""
        for each in self._asking:
            each.cancel()

    def _begin(self, line: Line) -> asyncio.Task[Content]:
        asking = asyncio.create_task(_asked(line))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        return asking

    def _answered(self, line: Line, task: asyncio.Task[Content], late: Callable[[], None]) -> None:
        del self._hanging[line]
        if not task.cancelled() and task.result()["state"] == "answers":
            late()


async def _asked(line: Line) -> Content:
    try:
        reply = await line.ask("pending", LATE_SECONDS)
    except Unloaded:
        return UNLOADED
    except (Refused, Silent):
        return SILENT
    return {"state": "answers", **{key: _objects(reply.get(key)) for key in NOTHING}}


def _objects(told: object) -> list[Content]:
    """What is one: code in a kernel can answer in its place, and pages read that of all kernels."""
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
