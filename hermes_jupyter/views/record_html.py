"""The record of a turn as HTML that reads well with every style stripped.

No script and no style sheet: sites that show notebooks remove both. Inline styles only embellish,
in shades of the text's own colour, so that light and dark pages both work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import groupby

from hermes_jupyter.views import words
from hermes_jupyter.views.limits import (
    Asked,
    Called,
    Compared,
    Lane,
    Omitted,
    Part,
    Said,
    Spoken,
    Thought,
)
from hermes_jupyter.views.markdown import to_html

FOLD_ABOVE = 4
"""More calls in a row than this share one fold."""
_NAMES = 6

_BOX = 'style="margin:.2em 0;padding-left:.7em;border-left:2px solid rgba(128,128,128,.35)"'
_PRE = (
    'style="margin:.3em 0;padding:.5em .7em;max-height:24em;overflow:auto;white-space:pre-wrap;'
    "overflow-wrap:anywhere;background:rgba(128,128,128,.1);border-radius:4px;font-size:.9em;"
    'font-family:var(--jp-code-font-family,monospace)"'
)
_QUIET = 'style="opacity:.7"'


def html_of(parts: Sequence[Part], *, ended: str, footer: str) -> str:
    """The record. ``ended`` says how a turn went wrong, if it did."""
    blocks = html_blocks(parts)
    if ended:
        status, colon, reason = ended.partition(":")
        blocks.append(f"<p><b>⚠ {escape(status)}</b>{colon}{escape(reason)}</p>\n")
    blocks.append(f"<p {_QUIET}><small>{escape(footer)}</small></p>\n")
    body = "".join(blocks)
    return f'<div style="overflow-wrap:anywhere">\n{body}</div>'


def html_blocks(parts: Sequence[Part]) -> list[str]:
    """Parts, with calls that follow each other taken together."""
    blocks: list[str] = []
    for is_call, group in groupby(parts, lambda part: isinstance(part, Called)):
        members = list(group)
        if is_call:
            blocks.append(_calls([part for part in members if isinstance(part, Called)]))
        else:
            blocks += map(_block, members)
    return blocks


def _block(part: Part) -> str:
    match part:
        case Said(text=text):
            return to_html(text)
        case Thought(text=text):
            summary = f"<summary {_QUIET}>💭 {escape(words.thought(text))}</summary>"
            return f"<details {_BOX}>{summary}\n{_listing(text)}</details>\n"
        case Asked(text=text, answer=answer):
            replied = "nobody answered" if answer is None else escape(answer)
            return f"<blockquote>{to_html(text)}<p>↳ <b>{replied}</b></p></blockquote>\n"
        case Spoken(text=text):
            said = escape(text).replace("\n", "<br>")
            return f"<blockquote><p><b>{words.YOU}</b> {said}</p></blockquote>\n"
        case Compared(text=text, count=count):
            summary = f"<summary>⚠ {escape(words.compared(count))}</summary>"
            return f"<details {_BOX} open>{summary}\n{_listing(text)}</details>\n"
        case Omitted(number=number):
            return f"<p><i>… {number:,} more calls and texts left out …</i></p>\n"
        case Called():
            return _call(part)
        case _:
            return f"<p>⚠ {escape(part.text)}</p>\n"


def _calls(calls: Sequence[Called]) -> str:
    rows = "".join(map(_call, calls))
    if len(calls) > FOLD_ABOVE:
        summary = escape(calls_summary(calls))
        rows = f"<details {_BOX}><summary>{summary}</summary>\n{rows}</details>\n"
    return f'<div style="margin-bottom:.8em">\n{rows}</div>\n'


def calls_summary(calls: Sequence[Called]) -> str:
    """ "12 tool calls: read_file ×5, terminal ×7 · 1 failed"."""
    names = list(Counter(call.name for call in calls).items())
    used = [name if number == 1 else f"{name} ×{number}" for name, number in names[:_NAMES]]
    more = ["…"] if len(names) > _NAMES else []
    ends = Counter(call.status for call in calls)
    bad = [
        f"{ends[s]} {word}" for s, (_, word) in words.CALL_STATES.items() if s != "ok" and ends[s]
    ]
    return " · ".join([f"{words.count(len(calls), 'tool call')}: {', '.join(used + more)}", *bad])


def _call(call: Called) -> str:
    short = f"<code>{escape(call.short)}</code> " if call.short else ""
    edited = f"<p><small>{call.edited_how}</small></p>\n{_listing(call.edited)}"
    more = f"<details><summary>{words.DETAILS}</summary>\n{_listing(call.details)}</details>\n"
    body = _listing(call.args) + (edited if call.edited else "") + _listing(call.result)
    body += more if call.details else ""
    body += "".join(map(_lane, call.lanes))
    if call.more_lanes:
        body += f"<p><i>… {call.more_lanes:,} more left out …</i></p>\n"
    opened = " open" if call.by_hand or call.lanes else ""
    return (
        f"<details {_BOX}{opened}><summary>{escape(call.emoji)} <b>{escape(call.name)}</b> {short}"
        f"<span {_QUIET}>· {escape(call.state)}</span></summary>\n{body}</details>\n"
    )


def _lane(lane: Lane) -> str:
    """What a child did: a line, and below it, folded, its calls and its answer."""
    parts = "".join(html_blocks(lane.parts))
    goal = "" if lane.name.endswith(lane.goal) else f"<p {_QUIET}>{escape(lane.goal)}</p>\n"
    return (
        f"<details {_BOX}><summary><b>{escape(lane.name)}</b> "
        f"<span {_QUIET}>· {escape(lane.state)}</span></summary>\n"
        f"{goal}{parts}{to_html(lane.text)}</details>\n"
    )


def _listing(text: str) -> str:
    return f"<pre {_PRE}>{escape(text)}</pre>\n" if text.strip() else ""
