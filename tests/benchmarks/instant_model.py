"""A model server that answers at once, in a process of its own, until standard input is closed.

It asks for the tool ``ping`` as often as the name of the model says (``ping@1000``), then it is
done. What it costs is not counted among what the client costs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


class Connection(asyncio.Protocol):
    """Answers the requests of one connection, which stays open."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._received = b""
        self._calls = 0

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"content-length"])
        if len(rest) >= length:
            self._received = rest[length:]
            self._answer(json.loads(rest[:length])["model"])

    def _answer(self, model: str) -> None:
        wanted = int(model.rpartition("@")[2])
        if self._calls < wanted:
            function = {"name": "ping", "arguments": json.dumps({"x": self._calls})}
            call = {"index": 0, "id": f"call_{self._calls}", "function": function}
            delta, finish = {"tool_calls": [call]}, "tool_calls"
        else:
            delta, finish = {"content": "done"}, "stop"
        self._calls = (self._calls + 1) % (wanted + 1)
        last = {"choices": [{"delta": {}, "finish_reason": finish}]}
        events = [{"choices": [{"delta": delta}]}, last, {"choices": [], "usage": USAGE}]
        body = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)
        body += b"data: [DONE]\n\n"
        self._transport.write(HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(main())
