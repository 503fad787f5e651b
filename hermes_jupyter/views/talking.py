"""The line below a running turn in which a person says something to the agent, or stops it."""

from __future__ import annotations

import asyncio
from typing import Any

from hermes_jupyter.views.base import Talk
from hermes_jupyter.views.typed import EXACT_SECONDS, has_arrived
from hermes_jupyter.views.widgets import Stage

WANTED = "Say something to the agent"
HELP = "Enter sends it: the agent reads it at its next step"


class TalkLine:
    """A field and two buttons. Clicks arrive in any thread; all else happens on the loop."""

    def __init__(self, stage: Stage, talk: Talk, loop: asyncio.AbstractEventLoop) -> None:
        self._stage, self._talk, self._loop = stage, talk, loop
        self._field = stage.field(WANTED, WANTED, "hermes-say")
        # Enter is heard before the text that it completes.
        self._field.on_msg(lambda _widget, content, _buffers: self._entered(content))
        say = stage.button("Say", HELP, self._sent, "hermes-small")
        stop = stage.button("Stop", "End this turn now", talk.stop, "hermes-small")
        self._sending: asyncio.Task[None] | None = None
        self.box = stage.row([self._field, say, stop], "hermes-talk")

    def _entered(self, content: dict[str, Any]) -> None:
        if content.get("event") == "submit":
            self._sent()

    def _sent(self) -> None:
        self._loop.call_soon_threadsafe(self._send)

    def _send(self) -> None:
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._say())

    async def _say(self) -> None:
        await has_arrived(self._stage, self.box, EXACT_SECONDS)
        text = str(self._field.value).strip()
        if text and not self._stage.closed:
            self._field.value = ""
            self._talk.say(text)
