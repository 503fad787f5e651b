"""What a turn has shown below its cell, as far as it is recorded and may be shown again.

A recording may come from anybody, and what a kernel displays a page trusts. So only what cannot
act is kept and shown: pictures, text, and the plain part of HTML.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from typing import Any

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.events import OutputDisplayed
from hermes_jupyter.store.sessions.masking import PICTURES
from hermes_jupyter.views.markdown import harmless as harmless_markdown

MOST_BYTES = 2_000_000
"""Of what one turn displays."""
MARKDOWN = "text/markdown"
TEXTS = ("text/plain", MARKDOWN)
HTML = "text/html"
LEFT_OUT = "(what was displayed here was too large to be recorded)"
OF_TABLES = frozenset({"table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption"})
OF_LISTS = frozenset({"ul", "ol", "li", "dl", "dt", "dd"})
OF_TEXT = frozenset(
    {"p", "div", "span", "b", "i", "em", "strong", "small", "code", "pre", "br", "hr", "sup", "sub"}
)
SHAPES = OF_TABLES | OF_LISTS | OF_TEXT | {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
EMPTY = frozenset({"br", "hr"})
SPANS = frozenset({"colspan", "rowspan"})
UNSEEN = frozenset({"style", "script", "title", "head", "template", "noscript"})


class Displays:
    """Those of one turn, until they are too many."""

    def __init__(self) -> None:
        self._room = MOST_BYTES

    def recorded(self, event: OutputDisplayed) -> OutputDisplayed:
        """The event as it is kept."""
        kept = harmless(replace(event, call=ToolCall(id=event.call.id, name=event.call.name)))
        size = len(json.dumps(kept.data))
        if size > self._room:
            return replace(kept, data={"text/plain": LEFT_OUT}, metadata={})
        self._room -= size
        return kept


def harmless(event: OutputDisplayed) -> OutputDisplayed:
    """The parts of what was shown that do nothing when they are shown."""
    data = {
        kind: part
        for kind, part in event.data.items()
        if (kind in PICTURES or kind in TEXTS) and isinstance(part, str)
    }
    if isinstance(html := event.data.get(HTML), str):
        data[HTML] = plain_html(html)
    return replace(event, data=data, metadata=_sizes(event.metadata))


def for_a_page(event: OutputDisplayed) -> OutputDisplayed:
    """The same as it is shown again: its Markdown loads no image, which would tell who reads."""
    kept = harmless(event)
    if (text := kept.data.get(MARKDOWN)) is None:
        return kept
    return replace(kept, data={**kept.data, MARKDOWN: harmless_markdown(text)})


def plain_html(html: str) -> str:
    """HTML with tables, lists and text, and nothing that loads, styles or runs."""
    reader = _PlainHTML()
    reader.feed(html)
    reader.close()
    return "".join(reader.parts)


def _sizes(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """How large pictures are shown."""
    return {
        kind: {name: size for name, size in about.items() if isinstance(size, int | float)}
        for kind, about in metadata.items()
        if kind in PICTURES and isinstance(about, Mapping)
    }


class _PlainHTML(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        """How many elements are open whose text is not for readers."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self._hidden += 1
        elif tag in SHAPES:
            spans = "".join(
                f' {name}="{value}"'
                for name, value in attrs
                if name in SPANS and (value or "").isdecimal()
            )
            self.parts.append(f"<{tag}{spans}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in SHAPES - EMPTY:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(escape(data))
