"""What a terminal asks a person, and what the entered line means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from hermes_jupyter.calls import ApprovalRequest, Decision, Question, Ruling
from hermes_jupyter.redaction import redact, redact_command
from hermes_jupyter.views.sanitize import clean, one_line, reveal

LINES_IN_SIGHT = 15
DENY = Ruling(decision="deny")
END = "."
"""A line that ends a text of several lines."""

_YES: Mapping[str, Decision] = {
    "y": "once", "yes": "once", "s": "session", "session": "session",
    "a": "always", "always": "always",
}  # fmt: skip
_NO = frozenset({"", "n", "no", "nope"})
_LEAST_REASON = 3
"""Characters; what is shorter is a slip of the finger, and says nothing to a model."""


def approval_prompt(request: ApprovalRequest) -> str:
    """All that a person needs to decide, and how to answer."""
    listing, number = _listing(redact_command(request.shown))
    reason = one_line(request.reason, 500)
    asker = f" (for {one_line(request.asker, 60)})" if request.asker else ""
    effects = () if request.effects == (request.reason,) else request.effects
    purpose = one_line(redact(request.purpose[:4_000]), 400)
    lines = [
        f"  ⚠ {one_line(request.call.name, 60)}{asker}: {reason}",
        listing,
        *(f"    • {one_line(effect, 200)}" for effect in effects),
        f"    the model says: “{purpose}”" if purpose else "",
        f"    in {_on_one_line(request.cwd)}" if request.cwd else "",
        f"    this session: {one_line(request.grant, 300)}" if request.grant else "",
        f"    always: {_on_one_line(request.rule)}" if request.rule else "",
        f"  {reason} ({number} lines; scroll up)" if number > LINES_IN_SIGHT else "",
        f"  Allow? {choices(request)}: ",
    ]
    return "\n".join(line for line in lines if line)


def choices(request: ApprovalRequest) -> str:
    """How to answer. Enter approves nothing."""
    offered = ["y = once", "s = this session"]
    offered += ["a = always"] if request.rule else []
    offered += ["e = edit"] if request.editable else []
    return f"{', '.join(offered)}; or say why not; Enter = no"


def ruling_of(line: str, request: ApprovalRequest) -> Ruling | Literal["edit", "unoffered"]:
    """What a line means: a clear yes, the wish to edit, else no, with the line as the reason."""
    word = line.strip().lower()
    if word in {"e", "edit"}:
        return "edit" if request.editable else "unoffered"
    if decision := _YES.get(word):
        is_offered = decision != "always" or request.rule
        return Ruling(decision=decision) if is_offered else "unoffered"
    return _denial(line)


def edit_prompt(text: str, *, prefilled: bool) -> str:
    """Ask for the text that shall run instead of ``text``."""
    if prefilled:
        return "  Edit it: "
    if "\n" in text:
        return f"  Write all of it anew, then a line with only {END} in it:\n"
    return "  Write it anew: "


def confirm_prompt(text: str) -> str:
    """Show an edited text once more. Enter approves nothing."""
    listing, _ = _listing(text)
    return f"  Edited:\n{listing}\n  Run it? y = once, e = edit again, Enter = no: "


def confirmation_of(line: str) -> Ruling | Literal["run", "edit"]:
    """What a line means after an edit: a clear yes, another edit, else no."""
    word = line.strip().lower()
    if word in {"y", "yes"}:
        return "run"
    if word in {"e", "edit"}:
        return "edit"
    return _denial(line)


def question_prompt(question: Question) -> str:
    offered = [
        f"    {number}. {one_line(choice, 200)}"
        for number, choice in enumerate(question.choices, 1)
    ]
    how = "  Number or text: " if offered else "  Answer: "
    if question.secret:
        how = "  Password (Enter = none): "
    return "\n".join([f"  ? {clean(question.text)}", *offered, how])


def chosen(line: str, choices: Sequence[str]) -> str | None:
    """A number stands for its choice; an empty line is no answer."""
    number = int(line) if line.isdecimal() else 0
    return choices[number - 1] if 0 < number <= len(choices) else line or None


def _denial(line: str) -> Ruling:
    said = line.strip()
    is_reason = len(said) >= _LEAST_REASON and said.lower() not in _NO
    return Ruling(decision="deny", note=said) if is_reason else DENY


def _listing(text: str) -> tuple[str, int]:
    lines = reveal(text).split("\n")
    return "\n".join(f"      {line}" for line in lines), len(lines)


def _on_one_line(text: str) -> str:
    """A folder's name may hold line ends, with which it could write lines of the prompt."""
    return reveal(text).replace("\n", "⟨U+000A⟩")
