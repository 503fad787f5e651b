"""Tool calls that a model prints as text instead of making them.

Local models do that when the server's template does not know their format. `TextCallFilter` sits
between the stream and the view: it lets ordinary text through at once and holds back what may
become a call. Text in code, and markers without a call of an offered tool behind them, are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from hermes_jupyter.agent.models import text_call_formats as formats
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.agent.models.text_cursor import Cursor, NeedMore, NotACall
from hermes_jupyter.agent.models.think_tags import overlap

_Reader = Callable[[Cursor], list[RawCall]]

_READERS: dict[str, _Reader] = {
    "<tool_call>": formats.tagged_calls,
    "<function=": formats.lone_function_calls,
    "<|python_tag|>": formats.llama_calls,
    "[TOOL_CALLS]": formats.mistral_calls,
}
_MARK = re.compile("|".join([r"\n", "`+", "~~~+", *map(re.escape, _READERS)]))
_PROMPT_RETRY_CHARS = 256


class TextCallFilter:
    """Splits streamed text into what may be shown and the calls in it.

    Parameters
    ----------
    tool_names
        The tools offered; a call of any other is text.
    """

    def __init__(self, tool_names: Collection[str]) -> None:
        self._names = frozenset(tool_names)
        self._pending = ""
        self._retry_at = 0
        self._calls: list[RawCall] = []
        self._prose = _Prose()
        self._code = _CodeSpans()
        self._begun = False

    def feed(self, delta: str) -> str:
        """Take a piece of the answer; return the text that is safe to show now."""
        self._pending += delta
        if len(self._pending) < self._retry_at:
            return ""
        self._scan(final=False)
        # What is held was read in vain: to read it again for every delta would take a time that
        # grows with the square of its length.
        held = len(self._pending)
        self._retry_at = held + held // 8 if held > _PROMPT_RETRY_CHARS else 0
        return self._prose.take()

    def finish(self) -> tuple[str, tuple[RawCall, ...]]:
        """The answer is over: the rest of its text, and the calls found in all of it."""
        self._scan(final=True)
        self._prose.end()
        return self._prose.take(), tuple(self._calls)

    def _scan(self, *, final: bool) -> None:
        try:
            if not self._begun:
                self._read_whole_answer(final=final)
            while self._pending:
                self._read_next(final=final)
        except NeedMore:
            return

    def _read_whole_answer(self, *, final: bool) -> None:
        """An answer that is nothing but JSON, bare or in a fence."""
        start = len(self._pending) - len(self._pending.lstrip())
        reader = formats.fenced_calls
        if self._pending[start : start + 1] in ("{", "["):
            reader = formats.bare_calls
        try:
            self._read(reader, start, final=final)
        except NotACall:
            self._show(start)
        self._begun = True

    def _read_next(self, *, final: bool) -> None:
        mark = _MARK.search(self._pending)
        if mark is None:
            held = 0 if final else _may_grow(self._pending)
            self._show(len(self._pending) - held)
            raise NeedMore
        self._show(mark.start())
        word = mark.group()
        if word[0] in "`~" and len(word) == len(self._pending) and not final:
            raise NeedMore  # the run may become longer
        if self._code.enter(word) or word not in _READERS:
            self._show(len(word))
            return
        try:
            self._read(_READERS[word], 0, final=final)
        except NotACall:
            self._show(len(word))

    def _read(self, reader: _Reader, start: int, *, final: bool) -> None:
        cursor = Cursor(self._pending, start, self._names, final=final)
        calls = reader(cursor)
        if not self._code.at_line_start and not _ends_answer(cursor):
            raise NotACall
        self._calls += calls
        self._pending = self._pending[cursor.place :]
        self._prose.cut()
        self._code.start_line()

    def _show(self, length: int) -> None:
        text, self._pending = self._pending[:length], self._pending[length:]
        self._code.pass_text(text)
        self._prose.add(text)


def _may_grow(text: str) -> int:
    return max(overlap(text, marker) for marker in ("~~~", *_READERS))


def _ends_answer(cursor: Cursor) -> bool:
    """Whether nothing but calls follows. In the middle of a line, only that makes it a call."""
    cursor.skip()
    return cursor.at_end() or any(cursor.sees(marker) for marker in _READERS)


class _Prose:
    """The text around the calls, without the white space that only set them apart."""

    def __init__(self) -> None:
        self._ready = ""
        self._space = ""
        self._begun = False
        self._after_call = False

    def add(self, text: str) -> None:
        if self._after_call:
            self._after_call = not text.strip()
            text = text.lstrip()
        body = (self._space + text).rstrip()
        self._space = (self._space + text)[len(body) :]
        self._ready += body
        self._begun = self._begun or bool(body)

    def cut(self) -> None:
        """A call stood here."""
        self._space = (self._space or "\n") if self._begun else ""
        self._after_call = True

    def end(self) -> None:
        self._ready += "" if self._after_call else self._space

    def take(self) -> str:
        ready, self._ready = self._ready, ""
        return ready


class _CodeSpans:
    """Knows whether a place in Markdown is inside of a fence or of backticks."""

    def __init__(self) -> None:
        self._fence = ""
        self._ticks = ""
        self.at_line_start = True

    def start_line(self) -> None:
        self.at_line_start = True
        self._ticks = ""

    def pass_text(self, text: str) -> None:
        if text.strip():
            self.at_line_start = False
        elif "\n" in text:
            self.start_line()

    def enter(self, mark: str) -> bool:
        """Whether a marker here is code; a fence or backticks open and close code."""
        if mark == "\n":
            return False
        if mark[0] in "`~":
            self._toggle(mark)
            return True
        return bool(self._fence or self._ticks)

    def _toggle(self, run: str) -> None:
        if self._fence:
            if self.at_line_start and run.startswith(self._fence):
                self._fence = ""
        elif len(run) >= 3 and self.at_line_start:
            self._fence = run
        elif run[0] == "`":
            self._ticks = "" if run == self._ticks else self._ticks or run
