"""Markdown of a model, as HTML that can do no harm.

Raw HTML becomes text, links lead to the web or nowhere, and nothing is loaded: an image would
tell its server who reads the notebook, so it becomes a link. Mathematics stays as ``$...$``.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import mistune
from mistune.renderers.html import HTMLRenderer

from hermes_jupyter.views.sanitize import clean, escape

MAX_CHARACTERS = 200_000
"""Longer text is rendered up to here; the rest follows as plain text."""
MAX_PLAIN_CHARACTERS = 1_000_000
SEAL_CHARACTERS = 4_000
"""An unfinished block of this size is sealed where a line ends."""

_LINK = re.compile(r"(?:https?:|mailto:)", re.IGNORECASE)
_SCHEME = re.compile(r"[^/?#]*:")
_MATH = r"\$(?![\s$])(?P<inline_formula>[^$`\n]{0,300}[^$`\s])\$(?!\d)"
_BLOCK_MATH = r"^ {0,3}\$\$(?P<block_formula>[^$`]{1,3000})\$\$[ \t]*$"
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)")
_CODE_SPAN = re.compile(r"(?<![`\\])(`[^`]+`|``[^`]+``)(?!`)")
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])")


_LISTING = (
    'style="margin:.5em 0 .8em;padding:.5em .7em;overflow:auto;'
    "background:rgba(128,128,128,.1);border-radius:4px;"
    'font-family:var(--jp-code-font-family,monospace)"'
)
_AS_AROUND = 'style="background:none;padding:0;font:inherit;color:inherit"'
"""Else a page gives each line of a listing a background of its own."""


class _Renderer(HTMLRenderer):  # type: ignore[misc]
    """HTML of the constructs that mistune would let do more than we want."""

    def text(self, text: str) -> str:
        return escape(html.unescape(text))

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not _is_harmless(url):
            return text
        return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return self.link(f"🖼 {text or escape(url)}", url)

    def inline_math(self, text: str) -> str:
        return f"${escape(text)}$"

    def block_math(self, text: str) -> str:
        return f"<p>$${escape(text)}$$</p>\n"

    def block_code(self, code: str, info: str | None = None) -> str:
        language = (info or "").split(maxsplit=1)[:1]
        named = f' class="language-{escape(language[0])}"' if language else ""
        return f"<pre {_LISTING}><code {_AS_AROUND}{named}>{escape(code)}</code></pre>\n"

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        # One level down: the notebook's own headings stay above those of an answer.
        rank = min(level + 1, 6)
        return f"<h{rank}>{text}</h{rank}>\n"


def to_html(text: str) -> str:
    """HTML of Markdown. Never raises, and takes bounded time for any text."""
    text = clean(text)
    body, rest = text[:MAX_CHARACTERS], text[MAX_CHARACTERS:MAX_PLAIN_CHARACTERS]
    try:
        rendered = str(_parser()(body))
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError):
        rendered = f"<pre>{escape(body)}</pre>"  # a bug of the parser must not cost the answer
    return rendered + (f"<pre>{escape(rest)}</pre>" if rest else "")


def harmless(text: str) -> str:
    """Markdown whose raw HTML and images are switched off, code left as it is.

    For front ends that render Markdown themselves. Where in doubt whether something is code, it
    is not: a backslash too many in an example is better than an image that reports its reader.
    """
    lines: list[str] = []
    fence: tuple[str, int] | None = None
    for line in clean(text).split("\n"):
        if fence is not None and _leaves(line, *fence):
            opened, fence = fence, None
            if line.strip().startswith(opened[0]):
                lines.append(line)
                continue
        if fence is None:
            found = _FENCE.fullmatch(line)
            if found is not None:
                fence = (found[2], len(found[1]))
                line = found[1] + found[2] + _ACTIVE.sub("&lt;", found[3])
            else:
                line = _without_markup(line)
        lines.append(line)
    return "\n".join(lines)


class StreamedMarkdown:
    """Markdown that grows. Blocks that are finished are rendered once and never again."""

    def __init__(self) -> None:
        self.text = ""
        self.sealed: list[str] = []
        """HTML of the finished blocks, in order."""
        self._open = ""

    def feed(self, piece: str) -> None:
        self.text += piece
        self._open += piece
        while (end := _seam(self._open)) > 0:
            self._seal(end)

    def html(self) -> tuple[list[str], str]:
        """The finished blocks, and what may still change."""
        return self.sealed, to_html(self._open) if self._open.strip() else ""

    def _seal(self, end: int) -> None:
        block, self._open = self._open[:end], self._open[end:]
        fence = _open_fence(block)
        if fence is not None:  # cut inside a long listing: close it here, open it again there
            mark, language = fence
            block, self._open = f"{block}{mark}\n", f"{mark}{language}\n{self._open}"
        if block.strip():
            self.sealed.append(to_html(block))


def _seam(text: str) -> int:
    """Where the finished part of growing Markdown ends; 0 if nothing is finished."""
    fence, blank, position = "", 0, 0
    for line in text[:SEAL_CHARACTERS].splitlines(keepends=True):
        bare = line.strip()
        found = _FENCE.fullmatch(line.rstrip("\n"))
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif blank and bare and _starts_block(line):
            return blank
        elif found is not None:
            fence = found[2]
        position += len(line)
        if not fence:
            blank = position if not bare else 0 if bare else blank
    if len(text) < SEAL_CHARACTERS:
        return 0
    return text.rfind("\n", 0, SEAL_CHARACTERS) + 1 or SEAL_CHARACTERS


def _starts_block(line: str) -> bool:
    """Whether a line after a blank one surely belongs to no list that began before it."""
    return line[0] not in " \t-*+>" and not line[0].isdigit() and len(line) > 1


def _open_fence(text: str) -> tuple[str, str] | None:
    fence: tuple[str, str] | None = None
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if fence is None and found is not None:
            fence = (found[2], found[3])
        elif fence is not None and _closes(line, fence[0]):
            fence = None
    return fence


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _leaves(line: str, fence: str, indent: int) -> bool:
    """Whether a fence ends here: it is closed, or the list item around it is left."""
    is_shallower = bool(line.strip()) and len(line) - len(line.lstrip(" ")) < indent
    return _closes(line, fence) or is_shallower


def _without_markup(line: str) -> str:
    parts = _CODE_SPAN.split(line)
    parts[::2] = [_ACTIVE.sub("&lt;", part.replace("![", r"!\[")) for part in parts[::2]]
    return "".join(parts)


def _is_harmless(url: str) -> bool:
    """Web and mail addresses, and paths: what has another scheme, or hides one, is dropped."""
    address = "".join(clean(url).split())
    return bool(_LINK.match(address)) or not _SCHEME.match(mistune.util.unescape(address))


def _parse_inline_math(parser: Any, found: Any, state: Any) -> int:
    state.append_token({"type": "inline_math", "raw": found.group("inline_formula")})
    return int(found.end())


def _parse_block_math(parser: Any, found: Any, state: Any) -> int:
    state.append_token({"type": "block_math", "raw": found.group("block_formula")})
    return int(found.end()) + 1


@cache
def _parser() -> Any:
    markdown = mistune.create_markdown(
        renderer=_Renderer(escape=True), plugins=["table", "strikethrough", "task_lists", "url"]
    )
    markdown.inline.register("inline_math", _MATH, _parse_inline_math, before="link")
    markdown.block.register("block_math", _BLOCK_MATH, _parse_block_math, before="list")
    return markdown
