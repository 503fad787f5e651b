"""A TCP proxy that can fail: connections are cut, or nothing passes any more and nobody is told."""

from __future__ import annotations

import asyncio
import contextlib

from tests.services.threads import LoopInThread


class TcpProxy:
    """Listens on ``port`` of the loopback interface, and passes everything on to ``target``."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.connections = 0
        self._thread = LoopInThread()
        self._open = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server = self._thread.call(self._start())
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Reset all connections; new ones are accepted."""
        self._thread.call(self._cut())

    def freeze(self) -> None:
        """Pass nothing on, as where a cable was pulled out."""
        self._thread.loop.call_soon_threadsafe(self._open.clear)

    def thaw(self) -> None:
        """Pass everything on again."""
        self._thread.loop.call_soon_threadsafe(self._open.set)

    def stop(self) -> None:
        self.cut()
        self._server.close()
        self._thread.stop()

    async def _start(self) -> asyncio.Server:
        self._open.set()
        return await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers.add(far_writer)
        await asyncio.gather(self._pass_on(reader, far_writer), self._pass_on(far_reader, writer))
        self._writers -= {writer, far_writer}

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(65_536):
                await self._open.wait()
                writer.write(piece)
                await writer.drain()
        writer.transport.abort() if writer.is_closing() else writer.close()
