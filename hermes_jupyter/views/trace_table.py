"""The trace of dispatches as a table, for people who look why something went as it did."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from hermes_jupyter.trace import Dispatch
from hermes_jupyter.views import words
from hermes_jupyter.views.markdown import harmless
from hermes_jupyter.views.sanitize import escape, one_line

HEADINGS = ("time", "tool", "arguments", "ended", "answer")
MAX_CELL = 300
"""Characters of the arguments, and of a note, in one row."""

_TABLE = 'style="border-collapse:collapse;color:inherit;font-size:.92em;width:100%;margin:.3em 0"'
_HEAD = 'style="text-align:left;font-weight:600;padding:.2em .8em .2em 0;opacity:.7"'
_CELL = (
    'style="text-align:left;vertical-align:top;padding:.25em .8em .25em 0;'
    'overflow-wrap:anywhere;border-top:1px solid rgba(128,128,128,.25)"'
)
_SHORT_CELL = _CELL.replace("overflow-wrap:anywhere", "white-space:nowrap")
_NOTE = 'style="opacity:.8"'


@dataclass(frozen=True, slots=True)
class Row:
    """A dispatch in words."""

    at: str
    tool: str
    args: str
    ended: str
    answer: str
    notes: tuple[str, ...]
    """What coercion changed, who decided, and what went wrong."""

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.at, self.tool, self.args, self.ended, self.answer)


def bundle_of(dispatches: Sequence[Dispatch], title: str) -> dict[str, str]:
    """The table as a MIME bundle: plain text, Markdown and HTML."""
    rows = [row_of(dispatch) for dispatch in dispatches]
    return {
        "text/plain": _plain(rows, title),
        "text/markdown": _markdown(rows, title),
        "text/html": _html(rows, title),
    }


def row_of(dispatch: Dispatch) -> Row:
    """A dispatch in words, each on one line."""
    answer = f"{dispatch.chars:,} chars"
    if dispatch.handle:
        answer += f", kept as {one_line(dispatch.handle, 60)}"
    decisions = [words.decided(decision, by) for decision, by in dispatch.decisions]
    error = [dispatch.error] if dispatch.error else []
    return Row(
        at=time.strftime("%H:%M:%S", time.localtime(dispatch.at)),
        tool=one_line(dispatch.tool, 60),
        args=one_line(dispatch.args, MAX_CELL),
        ended=_ended(dispatch),
        answer=answer,
        notes=tuple(
            one_line(note, MAX_CELL)
            for note in [*(f"coerced {each}" for each in dispatch.changes), *decisions, *error]
        ),
    )


def _ended(dispatch: Dispatch) -> str:
    """ "✓ done · 12 ms": exact, other than in the views of a turn."""
    ending = words.ending(dispatch.status, 0.0, dispatch.exit_code)
    if not dispatch.seconds:  # it did not run
        return ending
    thousandths = dispatch.seconds * 1_000
    exact = f"{thousandths:.1f}" if thousandths < 10 else f"{thousandths:.0f}"
    time_text = f"{exact} ms" if thousandths < 1_000 else words.seconds_text(dispatch.seconds)
    return f"{ending} · {time_text}"


def _plain(rows: Sequence[Row], title: str) -> str:
    lines = [title]
    for row in rows:
        lines.append(f"  {row.at}  {row.tool}  {row.ended}  {row.answer}")
        lines += [f"      {text}" for text in (row.args, *row.notes)]
    return "\n".join(lines) + "\n"


def _markdown(rows: Sequence[Row], title: str) -> str:
    lines = [f"*{harmless(title)}*", "", f"| {' | '.join(HEADINGS)} |", "|---" * 5 + "|"]
    for row in rows:
        at, tool, args, ended, answer = row.cells
        below = "".join(f"<br>{_inert(note)}" for note in row.notes)
        cells = (at, _inert(tool), f"{_inert(args)}{below}", _inert(ended), _inert(answer))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _inert(text: str) -> str:
    """Text that Markdown shows as it stands, in a cell of a table."""
    return "".join(
        f"&#{ord(character)};" if character in "|\\`*_[]<>&$~!#" else character
        for character in text
    )


def _html(rows: Sequence[Row], title: str) -> str:
    head = "".join(f"<th {_HEAD}>{heading}</th>" for heading in HEADINGS)
    body = "".join(f"<tr>{_row(row)}</tr>\n" for row in rows)
    return (
        f"<details open><summary>{escape(title)}</summary>\n"
        f"<table {_TABLE}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"
        "</details>"
    )


def _row(row: Row) -> str:
    notes = "".join(f"<br><small {_NOTE}>{escape(note)}</small>" for note in row.notes)
    cells = (
        (_SHORT_CELL, escape(row.at)),
        (_SHORT_CELL, f"<b>{escape(row.tool)}</b>"),
        (_CELL, f"<code>{escape(row.args)}</code>{notes}"),
        (_SHORT_CELL, escape(row.ended)),
        (_CELL, escape(row.answer)),
    )
    return "".join(f"<td {style}>{text}</td>" for style, text in cells)
