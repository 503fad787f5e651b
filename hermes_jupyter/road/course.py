"""What becomes of one call on its way down the road."""

from __future__ import annotations

import time

from hermes_jupyter.calls import CallStatus, ToolCall
from tools.entry import ToolEntry
from tools.images.picture import Picture
from tools.plain_text import Excerpt
from tools.registry import tool_error

MAX_ERROR_CHARS = 2_000
PARTIAL_CHARS = 20_000
MAX_DETAILS_CHARS = 40_000
MOST_PICTURES = 8


class Course:
    """A call on its way. Filled in as it goes, and read by `Road` alone."""

    __slots__ = (
        "_began",
        "admitted",
        "before",
        "call",
        "details",
        "edited",
        "entry",
        "is_remarked",
        "mistake",
        "note",
        "partial",
        "pictures",
        "seconds",
        "status",
        "text",
        "written",
    )

    def __init__(self, call: ToolCall) -> None:
        self.written = call
        """As the model wrote it."""
        self.call = call
        """As the tool gets it, once the arguments are known to fit."""
        self.entry: ToolEntry | None = None
        self.admitted = False
        """Whether there is such a tool and the arguments fit it."""
        self.is_remarked = False
        """Has a person changed the call, or said something to the model when they let it run?"""
        self.edited: ToolCall | None
        """What a person made of the call; only set if they have remarked on it."""
        self.note: str
        """What they said to the model, likewise."""
        self.status: CallStatus = "ok"
        self.text = ""
        self.before: str | None = None
        """What the tool answered, if a hook has made something else of it."""
        self.mistake = ""
        self.details = ""
        """What the tool tells the person alone."""
        self.pictures: list[Picture] = []
        """What there is to see of it."""
        self.partial: Excerpt | None = None
        """What the tool has printed, if it has printed anything."""
        self._began: float | None = None
        self.seconds = 0.0
        """How long the handler ran; a person's time to answer does not count."""

    def start(self) -> None:
        """The handler runs from now on."""
        self._began = time.monotonic()

    def hear(self, text: str) -> None:
        """Keep what the tool prints, in case it does not get to an answer."""
        if self.partial is None:
            self.partial = Excerpt(PARTIAL_CHARS)
        self.partial.add(text)

    def tell(self, text: str) -> None:
        """Keep what the person may read, and the model need not."""
        self.details = text[:MAX_DETAILS_CHARS]

    def show(self, picture: Picture) -> None:
        """Keep an image for the model; too many are left out."""
        if len(self.pictures) < MOST_PICTURES and picture not in self.pictures:
            self.pictures.append(picture)

    def printed(self) -> str | None:
        return self.partial.text() if self.partial else None

    def end(self, status: CallStatus, text: str) -> None:
        if self._began is not None:
            self.seconds = time.monotonic() - self._began
        self.status, self.text = status, text

    def refuse(self, message: str, mistake: str) -> None:
        """The model asked for what cannot run. ``mistake`` says it without the place."""
        self.mistake = mistake
        self.end("error", tool_error(message))

    def fail(self, error: BaseException) -> None:
        """Something on the road broke; without a result the transcript would be of no use."""
        message = f"Not run: {type(error).__name__}: {error}"
        self.end("error", tool_error(message[:MAX_ERROR_CHARS]))
