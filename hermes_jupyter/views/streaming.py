"""Text of the model as widgets, while it streams."""

from __future__ import annotations

from typing import Any

from hermes_jupyter.views.markdown import StreamedMarkdown
from hermes_jupyter.views.widgets import Stage

SEGMENT_CHARACTERS = 4_000
"""HTML of a text widget after which the next one starts, so that updates stay small."""


class TextSegment:
    """The streamed text of one step, in widgets of bounded size."""

    def __init__(self, stage: Stage, body: Any) -> None:
        self._stage, self._body = stage, body
        self._markdown = StreamedMarkdown()
        self._widgets: list[Any] = []
        self._first = 0  # the sealed part that the last widget starts with
        self._full = True
        self._stale = False

    def feed(self, piece: str) -> None:
        self._markdown.feed(piece)
        self._stale = True

    def refresh(self) -> None:
        if not self._stale:
            return
        self._stale = False
        sealed, tail = self._markdown.html()
        shown = ""
        for number in range(self._first, len(sealed)):
            shown += sealed[number]
            if len(shown) > SEGMENT_CHARACTERS:
                self._show(shown)
                self._full, self._first, shown = True, number + 1, ""
        if shown or tail:
            self._show(shown + tail)

    def withdraw(self) -> None:
        gone = set(map(id, self._widgets))
        self._body.children = tuple(c for c in self._body.children if id(c) not in gone)
        self._stage.discard(*self._widgets)

    def _show(self, html: str) -> None:
        value = f'<div class="jp-RenderedHTMLCommon hermes-text">{html}</div>'
        if not self._full:
            self._widgets[-1].value = value
            return
        self._full = False
        widget = self._stage.html(value)
        self._widgets.append(widget)
        self._body.children = (*self._body.children, widget)
