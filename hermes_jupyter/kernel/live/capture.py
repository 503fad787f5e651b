"""What code prints and displays, taken where it is said, while other threads go on as they were.

``sys.stdout`` stays the object that it is wherever that can be: its ``write`` is tapped. What is
written by the code, by threads that it starts, and by programs through the kernel's pipes goes to
the capture; what other threads write goes where it always went.
"""

from __future__ import annotations

import base64
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from hermes_jupyter.kernel.live.outputs import CellOutputs
from tools.live import Displayed
from tools.plain_text import Excerpt, without_escapes

KEPT_CHARS = 12_000_000
"""Of what is printed; the road gives the model a part of it and keeps the rest."""
TOLD_CHARS = 8_000
SECONDS_BETWEEN_TELLING = 0.1
SECONDS_TO_DRAIN = 0.1
MOST_DISPLAYS = 20
MOST_BYTES = 8_000_000
"""Of all that is displayed by one run."""
LEFT_OUT = "[A display of {:.1f} MB was left out, and what followed: too much for a page] {}"
WORDS_LEFT = 300
IMAGES = "image/"
SENDABLE = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Kinds that a model may be given, best first."""
MOST_PICTURES = 8
OUR_THREADS = "hermes"
"""How the names of this program's own threads begin."""
_NONE = object()

_here: ContextVar[Capture | None] = ContextVar("hermes_capture", default=None)


class Capture:
    """What one run of code says.

    Parameters
    ----------
    hear
        Gets what is printed, a few times a second.
    displayed_one
        Gets what is displayed.
    """

    def __init__(
        self,
        shell: Any,
        hear: Callable[[str], None],
        displayed_one: Displayed | None = None,
    ) -> None:
        self._shell, self._hear = shell, hear
        self._displayed_one = displayed_one
        self.output = Excerpt(KEPT_CHARS)
        self.outputs = CellOutputs()
        self.displayed: list[str] = []
        self.pictures: list[bytes] = []
        """The images that were displayed."""
        self.left_out = 0
        """Displays that were too many or too large."""
        self._room = MOST_BYTES
        self._pending = Excerpt(TOLD_CHARS)
        self._told_at = 0.0
        self._lock = threading.Lock()  # guards both excerpts and the outputs
        self._others = {thread.ident for thread in threading.enumerate()}
        self._publish: Callable[..., Any] = shell.display_pub.publish
        self._clear: Callable[..., Any] = shell.display_pub.clear_output
        self._clears_next = False
        """Has the code said that what it prints next takes the place of what there is?"""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take what is said in the block."""
        with ExitStack() as taps:
            pipes = [taps.enter_context(self._tapped(name)) for name in ("stdout", "stderr")]
            self._others -= {pipe.ident for pipe in pipes if pipe is not None}
            publisher = self._shell.display_pub
            taps.enter_context(patched(publisher, "publish", self._displays))
            taps.enter_context(patched(publisher, "clear_output", self._clears))
            try:
                yield
            finally:
                for name in ("stdout", "stderr"):
                    _drain(getattr(sys, name))
        self.tell()

    @contextmanager
    def mine(self) -> Iterator[None]:
        """What this thread, or this task, says in the block is the code's."""
        token = _here.set(self)
        try:
            yield
        finally:
            _here.reset(token)

    def add(self, text: str, name: str = "stdout") -> None:
        """As if the code had printed it."""
        with self._lock:
            self._clear_now()
            self.outputs.print(text, name)
        self.say(text)

    def say(self, text: str) -> None:
        """Tell it the model; a cell shows something else for it."""
        with self._lock:
            self._clear_now()
            self.output.add(text)
            self._pending.add(text)
        if time.monotonic() - self._told_at > SECONDS_BETWEEN_TELLING:
            self.tell()

    def tell(self) -> None:
        """Pass on what has not been told yet."""
        with self._lock:
            piece, self._pending = self._pending, Excerpt(TOLD_CHARS)
        self._told_at = time.monotonic()
        if piece.total:
            self._hear(without_escapes(piece.text()))

    def show(self, bundle: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
        """Display a bundle below the cell, if there is room for it."""
        if self.publish(bundle, metadata):
            with self._lock:
                self._clear_now()
                self.outputs.display(bundle, metadata)

    def publish(self, bundle: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> bool:
        """The same, where a cell that shows its outputs itself has it otherwise."""
        size = sum(len(part) for part in bundle.values() if isinstance(part, str | bytes))
        if len(self.displayed) >= MOST_DISPLAYS or size > self._room:
            self.left_out += 1
            if self.left_out == 1:
                self._say_that_it_is_left_out(bundle, size)
            return False
        self._room -= size
        self._note(bundle)
        with self._unheard():
            self._publish(dict(bundle), dict(metadata or {}))
        if self._displayed_one is not None:
            self._displayed_one(as_saved(bundle), dict(metadata or {}))
        return True

    def _say_that_it_is_left_out(self, bundle: Mapping[str, Any], size: int) -> None:
        said = LEFT_OUT.format(size / 1e6, in_words(bundle)[:WORDS_LEFT])
        with self._unheard():
            self._publish({"text/plain": said}, {})

    def see(self, content: Any) -> None:
        """Keep an image for the model: bytes, or base64 of them."""
        if len(self.pictures) < MOST_PICTURES and (found := _image(content)):
            self.pictures.append(found)

    def _note(self, bundle: Mapping[str, Any]) -> None:
        self.displayed.append(in_words(bundle))
        self.see(next((bundle[kind] for kind in SENDABLE if kind in bundle), None))

    def _is_ours(self) -> bool:
        if _here.get() is self:
            return True
        thread = threading.current_thread()
        return thread.ident not in self._others and not thread.name.startswith(OUR_THREADS)

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        """What a terminal prints of a display is no output of the code."""
        token = _here.set(None)
        mine = threading.get_ident()
        strange = mine not in self._others
        self._others.add(mine)
        try:
            yield
        finally:
            if strange:
                self._others.discard(mine)
            _here.reset(token)

    def _displays(self, data: Any, metadata: Any = None, *rest: Any, **more: Any) -> Any:
        if not self._is_ours():
            return self._publish(data, metadata, *rest, **more)
        if more.get("update") or more.get("transient"):
            self._keep_named(data, metadata, more)
            with self._unheard():
                return self._publish(data, metadata, *rest, **more)
        return self.show(data, metadata)

    def _keep_named(self, data: Any, metadata: Any, more: Mapping[str, Any]) -> None:
        name = str((more.get("transient") or {}).get("display_id") or "")
        with self._lock:
            if more.get("update"):
                self.outputs.update(data, metadata, name)
                return
            self._clear_now()
            self.outputs.display(data, metadata, name)
        self._note(data)

    def _clears(self, wait: bool = False) -> Any:
        """The code clears what it has printed itself, not the turn that it is a part of."""
        if not self._is_ours():
            return self._clear(wait)
        with self._lock:
            self._clears_next = True
            if not wait:
                self._clear_now()
        return None

    def _clear_now(self) -> None:
        """What `clear_output` has asked for; with the lock held."""
        if self._clears_next:
            self.output, self._clears_next = Excerpt(KEPT_CHARS), False
            self.outputs.clear()

    @contextmanager
    def _tapped(self, name: str) -> Iterator[threading.Thread | None]:
        stream = getattr(sys, name)
        write = stream.write

        def heard(text: str) -> Any:
            if not self._is_ours():
                return write(text)
            self.add(text, name)
            return len(text)

        try:
            tap = patched(stream, "write", heard)
            tap.__enter__()
        except (AttributeError, TypeError):  # an object of C: another one stands before it
            tap = patched(sys, name, _Before(stream, heard))
            tap.__enter__()
        try:
            yield getattr(stream, "watch_fd_thread", None)
        finally:
            if getattr(sys, name) is not stream:
                setattr(sys, name, stream)
            tap.__exit__(None, None, None)


class _Before:
    """A stream whose ``write`` is another."""

    def __init__(self, stream: Any, write: Callable[[str], Any]) -> None:
        self._stream, self.write = stream, write

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def patched(thing: Any, name: str, value: Any) -> Iterator[None]:
    """Let an object, and no other of its class, have this attribute in the block."""
    own = thing if isinstance(thing, dict) else vars(thing)
    before = own.get(name, _NONE)
    setattr(thing, name, value)
    try:
        yield
    finally:
        if before is not _NONE:
            setattr(thing, name, before)
        elif name in own:
            delattr(thing, name)


def in_words(bundle: Mapping[str, Any]) -> str:
    """A display for someone who sees no pictures."""
    text = bundle.get("text/plain", "")
    said = "".join(text) if isinstance(text, list | tuple) else str(text)
    kinds = [kind for kind in bundle if kind.startswith(IMAGES)]
    return said.strip() or ", ".join(kinds) or ", ".join(map(str, bundle))


def as_saved(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """A bundle as a notebook's file has it: bytes as base64, text in one piece."""
    return {
        kind: base64.b64encode(part).decode("ascii")
        if isinstance(part, bytes)
        else "".join(map(str, part))
        if isinstance(part, list | tuple)
        else part
        for kind, part in bundle.items()
    }


def _image(content: Any) -> bytes:
    """The bytes of an image in a bundle; none for what is no base64 after all."""
    if isinstance(content, bytes):
        return content
    try:
        return base64.b64decode(content) if isinstance(content, str) else b""
    except ValueError:
        return b""


def _drain(stream: Any) -> None:
    """Let what programs have written to the kernel's pipe arrive before the taps are closed."""
    pipe = getattr(stream, "_fid", None)
    deadline = time.monotonic() + SECONDS_TO_DRAIN
    while isinstance(pipe, int) and time.monotonic() < deadline:
        time.sleep(0.002)
        if not select.select([pipe], [], [], 0)[0]:
            return
