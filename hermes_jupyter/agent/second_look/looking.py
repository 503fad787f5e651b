"""Was anything looked at? An answer about files that no tool has seen is made up."""

from __future__ import annotations

from hermes_jupyter.agent.second_look.claims import ADMITS
from hermes_jupyter.agent.second_look.evidence import Evidence, failed
from hermes_jupyter.agent.second_look.objection import Objection
from hermes_jupyter.agent.wishes import key_word


def not_looked(answer: str, evidence: Evidence) -> Objection | None:
    """A question about files was answered without a tool, or a named file was left out."""
    wishes = evidence.wishes
    if evidence.was_denied or not wishes.about_files:
        return None
    if not evidence.results:
        tool, how = _first(evidence)
        return Objection(
            f"You have used no tool, so nothing was read and nothing was done. Use {how} now.",
            "answered without a tool; asked again",
            must_call=tool,
        )
    left = next((name for name in wishes.files if not evidence.touched(name)), "")
    if not left:
        return None
    return Objection(
        f"Nothing was done with {left} yet. Do that now with a tool.",
        f"left out {left}; asked again",
        must_call="terminal" if wishes.move else "any",
    )


def _first(evidence: Evidence) -> tuple[str, str]:
    """The tool to begin with, and how it is named to the model."""
    wishes = evidence.wishes
    if wishes.move:
        return "terminal", "terminal: cp, mv or rm"
    if wishes.change:
        return "any", "write_file, patch or terminal"
    if wishes.files and not wishes.count:
        return "read_file", f"read_file {wishes.files[0]}"
    return "any", "search_files or terminal"


def only_errors(answer: str, evidence: Evidence) -> Objection | None:
    """No call has brought anything, and the answer speaks as if one had."""
    if not evidence.results or evidence.was_denied or ADMITS.search(answer):
        return None
    if not all(map(failed, evidence.results)):
        return None
    word = key_word(evidence.request)
    return Objection(
        "All your calls failed, so nothing is known and nothing was done. Look for it with "
        f"search_files, pattern {word!r}, or tell the user what failed.",
        "answered although all calls failed; asked again",
    )
