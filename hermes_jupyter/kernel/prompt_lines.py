"""Lines of prompts that IPython would take for something else, or refuse in words of its own."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import parse_argstring

_UNKNOWN = "unrecognized arguments: "


def questions_are_prompts(lines: list[str]) -> list[str]:
    """Keep ``%hermes what is this?`` from being read as a request for help on ``this``.

    A lone ``%%agent`` line gets an empty one below it, so that the magic hears of it and can say
    where a prompt goes.
    """
    if len(lines) != 1:
        return lines
    text = lines[0].strip()
    if text.partition(" ")[0] == "%%agent" and not text.endswith("?"):
        return [f"{text}\n", "\n"]
    if not lines[0].startswith("%hermes ") or not text.endswith("?") or len(text.split()) < 3:
        return lines
    prompt = text.removeprefix("%hermes").strip()
    return [f"get_ipython().run_line_magic('hermes', {prompt!r})\n"]


# Whether a cell is complete is asked without it: who types line by line is not done yet.
questions_are_prompts.has_side_effects = True  # type: ignore[attr-defined]


def options_of(magic: Any, line: str) -> Any:
    """The options of an ``%%agent`` line.

    Raises
    ------
    UsageError
        It holds something else, such as the prompt.
    """
    try:
        return parse_argstring(magic, line)
    except UsageError as slip:
        said = str(slip)
        if not said.startswith(_UNKNOWN):
            raise
        raise UsageError(_refusal(said.removeprefix(_UNKNOWN), magic)) from None


def _refusal(unknown: str, magic: Any) -> str:
    first = unknown.partition(" ")[0].partition("=")[0]
    if not first.startswith("-"):
        return (
            "the prompt goes below the %%agent line, which takes only options; "
            f"{unknown!r} is none (%%agent? lists them)"
        )
    known = [name for name in magic.parser._option_string_actions if name.startswith("--")]
    close = get_close_matches(first, known, 1, cutoff=0.75)
    hint = f"; did you mean {close[0]}?" if close else " (%%agent? lists them)"
    return f"%%agent has no option {first}{hint}"
