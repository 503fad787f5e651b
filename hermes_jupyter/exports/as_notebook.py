"""A conversation as a notebook: each turn a cell that could be run again, with its record."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from hermes_jupyter.exports.turns import Conversation, ToldTurn, moment
from hermes_jupyter.views.markdown import harmless

MARKDOWN, LOAD = "markdown", "%load_ext hermes_jupyter"


def as_notebook(conversation: Conversation) -> str:
    """The JSON of the notebook (nbformat 4.5)."""
    about = conversation.about
    facts = " · ".join(filter(None, [moment(about.created), about.model, f"session {about.id}"]))
    title = harmless(" ".join(conversation.title.split()))
    cells = [_markdown(f"# {title}\n\n*{facts}*"), _code(LOAD, [], 1)]
    for number, turn in enumerate(conversation.turns, 2):
        cells.append(_code(_source(turn), [_output(turn, conversation)], number))
    for place, cell in enumerate(cells):
        cell["id"] = hashlib.sha256(f"{about.id} {place}".encode()).hexdigest()[:12]
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _source(turn: ToldTurn) -> str:
    prompt = turn.started.prompt.strip("\n")
    return prompt if turn.by_hand else f"%%agent\n{prompt}"


def _output(turn: ToldTurn, conversation: Conversation) -> dict[str, Any]:
    bundle = turn.bundle(conversation.emoji)
    # The copy is no place to go on from: it would take the conversation from its own notebook.
    kept = {name: _lines(value) for name, value in bundle.items() if isinstance(value, str)}
    return {"output_type": "display_data", "data": kept, "metadata": {}}


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": MARKDOWN, "id": "", "metadata": {}, "source": _lines(text)}


def _code(source: str, outputs: list[dict[str, Any]], count: int) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": "",
        "metadata": {},
        "outputs": outputs,
        "source": _lines(source),
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
