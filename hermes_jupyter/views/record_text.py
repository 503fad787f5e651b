"""The record of a turn as Markdown and as plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hermes_jupyter.views import words
from hermes_jupyter.views.limits import (
    Asked,
    Called,
    Compared,
    Omitted,
    Part,
    Said,
    Spoken,
    Thought,
)
from hermes_jupyter.views.markdown import harmless
from hermes_jupyter.views.sanitize import last_lines, one_line

ANSWER_CHARS = 300
"""Of a child's answer, which the agent's own answer is made of."""


def markdown_of(parts: Sequence[Part], *, ended: str, footer: str) -> str:
    """The record as Markdown: calls are list items, texts are as the model wrote them."""
    blocks: list[str] = []
    after_call = False
    for part in _without_thoughts(parts):
        is_call = isinstance(part, Called)
        blocks.append(("" if is_call and after_call else "\n") + _markdown(part))
        after_call = is_call
    ending = [f"**{harmless(ended)}**"] if ended else []
    ending.append(f"*{harmless(footer)}*")
    return "\n".join([*blocks, "", "\n\n".join(ending)]).strip() + "\n"


def _without_thoughts(parts: Sequence[Part]) -> list[Part]:
    """Text cannot fold them away."""
    return [part for part in parts if not isinstance(part, Thought)]


def plain_of(parts: Sequence[Part], *, ended: str, footer: str) -> str:
    """The record for terminals."""
    lines = [*map(_plain, _without_thoughts(parts)), *([ended] if ended else []), footer]
    return "\n".join(lines).lstrip("\n") + "\n"


def _markdown(part: Part) -> str:
    match part:
        case Said(text=text):
            return harmless(text)
        case Called():
            what = f"{_code(part.name)} {_code(part.short) if part.short else ''}".strip()
            line = f"- {part.emoji} {what} · {harmless(part.state)}"
            if part.edited:
                line += f"\n\n{part.edited_how}:\n\n{fenced(part.edited)}"
            line += "".join(f"\n{each}" for each in _lanes_in_markdown(part))
            return f"{line}\n\n{fenced(part.result)}" if part.by_hand and part.result else line
        case Asked(text=text, answer=answer):
            return f"❓ {harmless(text)}\n\n↳ {harmless(_answer(answer))}"
        case Spoken(text=text):
            quoted = harmless(text).replace("\n", "\n> ")
            return f"> **{words.YOU}** {quoted}"
        case Compared(text=text, count=count):
            return f"⚠ {words.compared(count)}\n\n{fenced(text)}"
        case Omitted(number=number):
            return f"*… {number:,} more calls and texts left out …*"
        case _:
            return f"⚠ {harmless(part.text)}"


def _plain(part: Part) -> str:
    match part:
        case Said(text=text):
            return f"\n{text.strip()}\n"
        case Called():
            lines = [f"  {part.emoji} {part.name}  {part.short}".rstrip() + f"  {part.state}"]
            if part.edited:
                lines += [f"      {part.edited_how}:"]
                lines += [f"        {line}" for line in part.edited.splitlines()]
            lines += _lanes_in_plain(part)
            if part.by_hand:
                lines += [f"      {line}" for line in part.result.splitlines()]
            elif part.status in {"error", "timeout"}:
                lines += [f"      {line}" for line in last_lines(part.result, 5)]
            return "\n".join(lines)
        case Asked(text=text, answer=answer):
            return f"  ? {one_line(text, 2_000)}\n    → {_answer(answer)}"
        case Spoken(text=text):
            return f"  {words.YOU} {one_line(text, 2_000)}"
        case Compared(text=text, count=count):
            lines = [f"  ⚠ {words.compared(count)}"]
            return "\n".join([*lines, *(f"      {line}" for line in text.splitlines())])
        case Omitted(number=number):
            return f"  … {number:,} more calls and texts left out …"
        case _:
            return f"  ⚠ {part.text}"


def _lanes_in_markdown(call: Called) -> list[str]:
    """Its children as a list in the list: a line each, and below it what it called."""
    lines = []
    for lane in call.lanes:
        lines.append(f"  - **{harmless(lane.name)}** · {harmless(lane.state)}")
        for part in lane.parts:
            if isinstance(part, Called):
                nested = _markdown(replace(part, edited="", result=""))
                lines += [f"    {line}" for line in nested.splitlines()]
        if answer := one_line(lane.text, ANSWER_CHARS):
            lines.append(f"    - ↳ {harmless(answer)}")
    return [*lines, *([f"  - *… {call.more_lanes:,} more …*"] if call.more_lanes else [])]


def _lanes_in_plain(call: Called) -> list[str]:
    lines = []
    for lane in call.lanes:
        lines.append(f"    │ {lane.name}  {lane.state}")
        for part in lane.parts:
            if isinstance(part, Called):
                lines += [f"    │ {line}" for line in _plain(part).splitlines()]
        if answer := one_line(lane.text, ANSWER_CHARS):
            lines.append(f"    │   ↳ {answer}")
    return [*lines, *([f"    │ … {call.more_lanes:,} more …"] if call.more_lanes else [])]


def _answer(answer: str | None) -> str:
    return "nobody answered" if answer is None else one_line(answer, 2_000)


def fenced(text: str, language: str = "") -> str:
    """A code block that no line of the text ends."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _code(text: str) -> str:
    """A code span; a backtick inside would end it, and nothing else means anything in it."""
    return f"`{text.replace('`', 'ˋ')}`"
