"""The record of a turn as Markdown and as plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hermes_jupyter.views.limits import Asked, Called, Omitted, Part, Said, Thought
from hermes_jupyter.views.markdown import harmless
from hermes_jupyter.views.sanitize import last_lines, one_line


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
                line += f"\n\n{part.edited_how}:\n\n{_fenced(part.edited)}"
            return f"{line}\n\n{_fenced(part.result)}" if part.by_hand and part.result else line
        case Asked(text=text, answer=answer):
            return f"❓ {harmless(text)}\n\n↳ {harmless(_answer(answer))}"
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
            if part.by_hand:
                lines += [f"      {line}" for line in part.result.splitlines()]
            elif part.status in {"error", "timeout"}:
                lines += [f"      {line}" for line in last_lines(part.result, 5)]
            return "\n".join(lines)
        case Asked(text=text, answer=answer):
            return f"  ? {one_line(text, 2_000)}\n    → {_answer(answer)}"
        case Omitted(number=number):
            return f"  … {number:,} more calls and texts left out …"
        case _:
            return f"  ⚠ {part.text}"


def _answer(answer: str | None) -> str:
    return "nobody answered" if answer is None else one_line(answer, 2_000)


def _fenced(text: str) -> str:
    """A code block that no line of the text ends."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _code(text: str) -> str:
    """A code span; a backtick inside would end it, and nothing else means anything in it."""
    return f"`{text.replace('`', 'ˋ')}`"
