"""Conversations as files for people and programs: Markdown, a notebook, JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_jupyter.errors import StoreError
from hermes_jupyter.exports.as_json import as_json
from hermes_jupyter.exports.as_markdown import as_markdown
from hermes_jupyter.exports.as_notebook import as_notebook
from hermes_jupyter.exports.turns import Conversation

FORMATS: Mapping[str, Callable[[Conversation], str]] = {
    "md": as_markdown,
    "json": as_json,
    "ipynb": as_notebook,
}


def export(conversation: Conversation, target: str) -> Path:
    """Write a conversation to a file.

    Parameters
    ----------
    target
        The file, whose ending says the format, or only the format.

    Raises
    ------
    StoreError
        For an unknown format, a file that is there already, or one that cannot be written.
    """
    ending = Path(target).suffix.removeprefix(".") or target.removeprefix(".")
    if ending not in FORMATS:
        raise StoreError(
            f"conversations are exported as {', '.join(FORMATS)}: %hermes export chat.md, "
            f"not {target!r}"
        )
    named = Path(target) if Path(target).suffix else Path(f"{conversation.file_name}.{ending}")
    text = FORMATS[ending](conversation)
    try:
        named.expanduser().open("x", encoding="utf-8").close()
        named.expanduser().write_text(text, encoding="utf-8")
    except FileExistsError:
        raise StoreError(f"{named} is there already; choose another name") from None
    except OSError as error:
        raise StoreError(f"cannot write {named}: {error.strerror or error}") from error
    return named.expanduser().absolute()
