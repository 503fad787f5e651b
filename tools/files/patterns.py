"""A pattern to search for, as lines see it: compiled forgivingly, and kept from running for ever.

Python's `re` cannot be interrupted and holds the interpreter while it runs, so a pattern that
may take exponential time would freeze the whole kernel. `is_explosive` finds those; whoever
searches runs them in a process of their own. Long lines are searched in overlapping pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MAX_WHOLE_LINE = 20_000
PIECE = 1_000
STEP = 750
LINES_PER_LOOK = 10_000
MAX_WILD = 3
LEAVES_THE_LINE = re.compile(r"\\[sWDAZnrxu0tvf]|\[\^|\(\?|\n")
"""Parts of a pattern that may match a line end, or look beyond it."""
UNBOUNDED = re.compile(r"[*+]|\{\d*,\d*\}")
TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[^:)]*:?|[()|]|[*+?]|\{\d*,?\d*\}|.", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (counted from 0) and where in it the match is."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LinePattern:
    """A compiled pattern, and what is known about it."""

    regex: re.Pattern[str]
    note: str = ""
    stays_in_line: bool = True

    def hits(self, text: str, stopped: Callable[[], bool] = lambda: False) -> Iterator[Hit]:
        """The lines of the text that match, each once; fewer if ``stopped`` says so."""
        if not (self.stays_in_line or self.spans_lines):
            return self._in_lines(text.split("\n"), stopped)
        if self.is_unbounded and len(text) > MAX_WHOLE_LINE:
            lines = text.split("\n")
            if max(map(len, lines)) > MAX_WHOLE_LINE:
                return self._in_lines(lines, stopped)
        return self._in_whole(text)

    @property
    def is_unbounded(self) -> bool:
        return UNBOUNDED.search(self.regex.pattern) is not None

    @property
    def spans_lines(self) -> bool:
        """Whether the pattern names a line end itself, so that it can match over several lines."""
        return "\n" in self.regex.pattern or "\\n" in self.regex.pattern

    def _in_whole(self, text: str) -> Iterator[Hit]:
        at, line, counted = 0, 0, 0
        while found := self.regex.search(text, at):
            start = found.start()
            if start == len(text) and (text.endswith("\n") or not text):
                return  # behind the last line feed is no line
            line += text.count("\n", counted, start)
            counted = start
            begin = text.rfind("\n", 0, start) + 1
            yield Hit(line, start - begin, found.end() - begin)
            at = text.find("\n", max(start, found.end() - 1)) + 1
            if not at:
                return

    def _in_lines(self, lines: list[str], stopped: Callable[[], bool]) -> Iterator[Hit]:
        last = len(lines) - 1
        for number, line in enumerate(lines):
            if (number == last and not line) or (number % LINES_PER_LOOK == 0 and stopped()):
                return
            is_long = len(line) > MAX_WHOLE_LINE and self.is_unbounded
            found = self._in_pieces(line, stopped) if is_long else self.regex.search(line)
            if found:
                yield Hit(number, found.start(), found.end())

    def _in_pieces(self, line: str, stopped: Callable[[], bool]) -> re.Match[str] | None:
        for begin in range(0, len(line), STEP):
            if stopped():
                return None
            end = min(begin + PIECE, len(line))
            found = self.regex.search(line, begin, end)
            # What ends where the piece was cut may be no real match; the next piece will tell.
            if found and (found.end() < end or end == len(line)):
                return found
        return None


def compile_pattern(pattern: str, flags: int = 0) -> LinePattern:
    """Compile a pattern; one that is no regular expression is searched for as it stands."""
    try:
        regex = re.compile(pattern, flags | re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        note = f"The pattern is no valid regular expression ({error}); searched for it literally."
        return LinePattern(re.compile(re.escape(pattern), flags), note)
    return LinePattern(regex, "", not LEAVES_THE_LINE.search(pattern))


def is_explosive(pattern: str) -> bool:
    """Whether a pattern may take exponential time: a repeat of what repeats or branches."""
    groups = [False]
    wild = 0
    previous, before = "", ""
    for token in TOKEN.findall(pattern):
        if token.startswith("("):
            groups.append(False)
        elif token == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] = groups[-1] or closed
            before = "loose" if closed else "firm"
        elif token == "|":
            groups[-1] = True
        elif UNBOUNDED.fullmatch(token):
            if previous == ")" and before == "loose":
                return True
            wild += previous == "." or previous.startswith("[^")
            groups[-1] = True
        previous = token
    return wild > MAX_WILD
