"""What a model thought before it spoke, folded away."""

from __future__ import annotations

from hermes_jupyter.views import words
from hermes_jupyter.views.limits import excerpt
from hermes_jupyter.views.sanitize import escape, listing

MAX_CHARS = 20_000


def thoughts_html(text: str) -> str:
    """A fold with the thoughts in it."""
    shown = excerpt(text.strip(), MAX_CHARS)
    return (
        '<details class="hermes-call hermes-thoughts">'
        f'<summary><span class="hermes-state">💭 {escape(words.thought(text))}</span></summary>'
        f"{listing(shown)}</details>"
    )
