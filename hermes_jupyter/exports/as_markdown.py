"""A conversation for people, as Markdown."""

from __future__ import annotations

from hermes_jupyter.exports.turns import Conversation, ToldTurn, moment
from hermes_jupyter.views.markdown import harmless


def as_markdown(conversation: Conversation) -> str:
    """A heading, then each turn: what was asked as a quotation, and its record."""
    about = conversation.about
    facts = [
        f"{moment(about.created)} to {moment(about.updated)}",
        *([about.model] if about.model else []),
        f"session {about.id}",
    ]
    head = f"# {harmless(_line(conversation.title))}\n\n*{' · '.join(facts)}*\n"
    turns = [_turn(number, turn, conversation) for number, turn in enumerate(conversation.turns, 1)]
    return "\n".join([head, *turns]) if turns else f"{head}\nNothing was said.\n"


def _turn(number: int, turn: ToldTurn, conversation: Conversation) -> str:
    record = turn.bundle(conversation.emoji)["text/markdown"]
    return f"## {number} · {moment(turn.at)}\n\n{_quoted(turn)}\n\n{record}"


def _quoted(turn: ToldTurn) -> str:
    prompt = turn.started.prompt.strip()
    if turn.by_hand:
        return f"> `{_line(prompt).replace('`', 'ˋ')}`"
    return "\n".join(f"> {line}".rstrip() for line in harmless(prompt).splitlines())


def _line(text: str) -> str:
    return " ".join(text.split())
