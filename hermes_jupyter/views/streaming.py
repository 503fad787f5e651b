"""Text of the model as widgets, while it streams: what is finished is sent once."""

from __future__ import annotations

from typing import Any

from hermes_jupyter.views.markdown import StreamedMarkdown
from hermes_jupyter.views.widgets import Stage

SEGMENT_CHARACTERS = 800
"""HTML of finished blocks in a text widget after which the next widget starts: what is in it is
sent again with each update."""
COLUMN_WIDGETS = 12
"""Text widgets in a column. To add one sends the names of the others again."""
TAIL_SHARE = 0.3
"""An unfinished block that is less than this of what is new waits for the next update."""
MESSAGE_BYTES = 750
"""Of a message to a page, beside what it says."""
WIDGET_BYTES = 1_300
"""Of the message that opens a widget, likewise."""


class TextSegment:
    """The streamed text of one step, in widgets of bounded size."""

    def __init__(self, stage: Stage, body: Any) -> None:
        self._stage, self._body = stage, body
        self._markdown = StreamedMarkdown()
        self._columns: list[Any] = []
        self._widgets: list[Any] = []
        self._seen = 0
        """Finished blocks that are shown."""
        self._finished = ""
        """Those in the last widget."""
        self._shows_tail = False
        self.is_stale = False
        """Is there something that is not shown?"""

    def feed(self, piece: str) -> None:
        self._markdown.feed(piece)
        self.is_stale = True

    def refresh(self, *, whole: bool = True) -> int:
        """Show what is new; about how many bytes that took.

        Parameters
        ----------
        whole
            Also what may have to be sent again very soon.
        """
        if not self.is_stale:
            return 0
        sealed, tail = self._markdown.html()
        new = "".join(sealed[self._seen :])
        if not whole and len(tail) < TAIL_SHARE * len(new):
            tail = ""
        self.is_stale = not tail and not whole
        self._seen = len(sealed)
        return self._show(new, tail) if new or tail or self._shows_tail else 0

    def withdraw(self) -> None:
        gone = set(map(id, self._columns))
        self._body.children = tuple(c for c in self._body.children if id(c) not in gone)
        self._stage.discard(*self._widgets, *self._columns)

    def _show(self, new: str, tail: str) -> int:
        is_full = len(self._finished) > SEGMENT_CHARACTERS
        if not self._widgets or (is_full and not self._shows_tail):
            sent = self._open(new, tail)
        elif is_full and new:  # what was unfinished in the last widget stays there
            sent = self._change(new, "") + (self._open("", tail) if tail else 0)
        else:
            sent = self._change(new, tail)
        self._shows_tail = bool(tail)
        return sent

    def _change(self, new: str, tail: str) -> int:
        self._finished += new
        value = _text(self._finished + tail)
        self._widgets[-1].value = value
        return MESSAGE_BYTES + len(value)

    def _open(self, new: str, tail: str) -> int:
        """One more widget."""
        self._finished, value = new, _text(new + tail)
        if not self._columns or len(self._columns[-1].children) >= COLUMN_WIDGETS:
            column = self._stage.column((), "hermes-stream")
            self._columns.append(column)
            self._body.children = (*self._body.children, column)
        widget, column = self._stage.html(value), self._columns[-1]
        self._widgets.append(widget)
        column.children = (*column.children, widget)
        return WIDGET_BYTES + MESSAGE_BYTES + len(value)


def _text(html: str) -> str:
    return f'<div class="jp-RenderedHTMLCommon hermes-text">{html}</div>'
