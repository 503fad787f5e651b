"""Differences of files, in colour where there is any: what a turn changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hermes_jupyter.redaction import redact
from hermes_jupyter.views.record_text import fenced
from hermes_jupyter.views.sanitize import escape, one_line, reveal

MOST_FILES = 100

_PRE = (
    'style="margin:.3em 0;padding:.5em 0;max-height:32em;overflow:auto;white-space:pre-wrap;'
    "overflow-wrap:anywhere;background:rgba(128,128,128,.1);border-radius:4px;font-size:.9em;"
    'font-family:var(--jp-code-font-family,monospace)"'
)
_LINES = {
    "+": "background:rgba(46,160,67,.22)",
    "-": "background:rgba(218,54,51,.22)",
    "@": "opacity:.7",
}
_CODES = {"+": "32", "-": "31", "@": "2"}
"""For terminals, as in a turn that is shown there."""
_QUIET = 'style="opacity:.7"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What became of one thing."""

    name: str
    how: str
    """ "added", "changed +3 −1", "mode 644 → 755"."""
    text: str = ""
    """The unified difference, of a bearable length; empty if there is none to show."""


def bundle_of(
    differences: Sequence[Difference], title: str, notes: Sequence[str]
) -> dict[str, str]:
    """The differences as a MIME bundle: plain text, Markdown and HTML."""
    shown = [_harmless(each) for each in differences[:MOST_FILES]]
    left_out = len(differences) - len(shown)
    more = [f"… {left_out:,} more"] if left_out > 0 else []
    below = [one_line(redact(note), 300) for note in (*more, *notes)]
    title = one_line(title, 300)
    return {
        "text/plain": _plain(shown, title, below),
        "text/markdown": _markdown(shown, title, below),
        "text/html": _html(shown, title, below),
    }


def in_colour(differences: Sequence[Difference], title: str, notes: Sequence[str]) -> str:
    """The same for a terminal that has colours."""
    lines = bundle_of(differences, title, notes)["text/plain"].split("\n")
    return "\n".join(map(_painted, lines))


def _painted(line: str) -> str:
    code = _CODES.get(line[4:5], "") if line.startswith("    ") else ""
    return f"\x1b[{code}m{line}\x1b[0m" if code else line


def _harmless(each: Difference) -> Difference:
    return Difference(
        name=one_line(each.name, 300),
        how=one_line(each.how, 200),
        text=reveal(redact(each.text)),
    )


def _plain(differences: Sequence[Difference], title: str, notes: Sequence[str]) -> str:
    lines = [title]
    for each in differences:
        lines += [f"  {each.name}  {each.how}", *(f"    {line}" for line in _body(each))]
    return "\n".join([*lines, *(f"  {note}" for note in notes)]) + "\n"


def _markdown(differences: Sequence[Difference], title: str, notes: Sequence[str]) -> str:
    blocks = [f"*{_inert(title)}*"]
    for each in differences:
        blocks.append(f"- {_inert(each.name)} · {_inert(each.how)}")
        if each.text:
            blocks.append(fenced("\n".join(_body(each)), "diff"))
    return "\n\n".join([*blocks, *(f"*{_inert(note)}*" for note in notes)]) + "\n"


def _html(differences: Sequence[Difference], title: str, notes: Sequence[str]) -> str:
    opened = " open" if len(differences) == 1 else ""
    parts = [f"<p><b>{escape(title)}</b></p>\n"]
    for each in differences:
        name = f"<code>{escape(each.name)}</code> <span {_QUIET}>· {escape(each.how)}</span>"
        if each.text:
            body = "".join(map(_line, _body(each)))
            listing = f"<pre {_PRE}>{body}</pre>\n"
            parts.append(f"<details{opened}><summary>{name}</summary>\n{listing}</details>\n")
        else:
            parts.append(f"<div>{name}</div>\n")
    parts += [f"<p {_QUIET}><small>{escape(note)}</small></p>\n" for note in notes]
    return f'<div style="overflow-wrap:anywhere">\n{"".join(parts)}</div>'


def _line(line: str) -> str:
    style = _LINES.get(line[:1], "")
    coloured = f"display:block;padding:0 .7em;min-height:1.2em;{style}"
    return f'<span style="{coloured}">{escape(line)}</span>'


def _body(each: Difference) -> list[str]:
    """Its lines without the two that only name the file."""
    lines = each.text.rstrip("\n").split("\n") if each.text else []
    return lines[2:] if lines[:1] and lines[0].startswith("--- ") else lines


def _inert(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return "".join(
        f"&#{ord(character)};" if character in "|\\`*_[]<>&$~!#" else character
        for character in text
    )
