"""What goes over the wire and what comes back: values for JSON, the answer's frames."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from hermes_jupyter.agent.models.server_messages import is_html
from hermes_jupyter.text import mended

DONE = "[DONE]"
WINDOW_NAMES = ("context_length", "max_model_len", "context_window", "max_context_length")


class UnreadableFrame(Exception):
    """A frame of the answer is not JSON. ``args[0]`` is its beginning."""


class WebPage(Exception):
    """The answer is a web page."""


def json_safe(value: Any) -> Any:
    """The same value as every server can read it: no lone surrogates, no NaN, no odd types."""
    match value:
        case str():
            return mended(value)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping():
            return {mended(str(key)): json_safe(item) for key, item in value.items()}
        case list() | tuple():
            return [json_safe(item) for item in value]
    return mended(str(value))


def window_of(model: Mapping[str, Any]) -> int:
    """Tokens of a model's context window, as far as its entry in a list of models says so.

    Servers call it by different names; 0 if it stands under none of them.
    """
    meta = model.get("meta")
    said = [model.get(name) for name in WINDOW_NAMES]
    said += [meta.get(name) for name in ("n_ctx", "n_ctx_train")] if isinstance(meta, dict) else []
    return next((size for size in said if type(size) is int and size > 0), 0)


def tool_name(definition: Mapping[str, Any]) -> str:
    """The name in a tool's definition."""
    return str(definition.get("function", definition).get("name", ""))


async def frames(
    blocks: AsyncIterator[bytes], on_life: Callable[[], None] = lambda: None
) -> AsyncGenerator[Any, None]:
    """The JSON values of an answer: of its server-sent events, or the one of a plain body.

    What it is, its first character tells; the content type of small servers often does not.
    The last value is `DONE` if the server said so. ``on_life`` hears of every sign of life.

    Raises
    ------
    UnreadableFrame, WebPage
    """
    lines = EventLines()
    body: bytes | None = None
    async for block in blocks:
        on_life()
        if body is not None:
            body += block
        elif not lines.started and block.lstrip()[:1] in (b"{", b"<"):
            body = block
        else:
            for line in lines.feed(block):
                frame = _parsed(line)
                yield frame
                if frame == DONE:
                    return
    if body is not None:
        yield _parsed(body.decode("utf-8", "replace"))
        yield DONE  # a body that parses is whole
        return
    for line in lines.finish():
        yield _parsed(line)


def _parsed(text: str) -> Any:
    if text.startswith(DONE):
        return DONE
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise (WebPage() if is_html(text) else UnreadableFrame(text[:80])) from None


class EventLines:
    """Splits a stream of server-sent events into the texts of their data."""

    def __init__(self) -> None:
        self._rest = b""
        self._texts: list[str] = []
        self.started = False

    def feed(self, block: bytes) -> Iterator[str]:
        """The events that ``block`` completes."""
        # Not str.splitlines: JSON may contain U+2028 and its like, which are no line ends here.
        # A lone CR at the end of a block may be half of a CRLF, so it waits for the next one.
        whole = self._rest + block
        held = whole.endswith(b"\r")
        ready = whole[:-1] if held else whole
        *lines, self._rest = ready.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest += b"\r" if held else b""
        self.started = self.started or bool(whole.strip())
        for line in lines:
            yield from self._line(line)

    def finish(self) -> Iterator[str]:
        """The last event, if no empty line ended it."""
        yield from self._line(self._rest.rstrip(b"\r"))
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[str]:
        if not line and self._texts:
            text, self._texts = "\n".join(self._texts), []
            yield text
        field, _, value = line.partition(b":")
        if field == b"data":
            self._texts.append(value.decode("utf-8", "replace").removeprefix(" "))
