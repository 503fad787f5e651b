"""Does an answer say that something was done which no tool did, or which failed?"""

from __future__ import annotations

import re

from hermes_jupyter.agent.second_look.evidence import CHANGING, Evidence
from hermes_jupyter.agent.second_look.objection import Objection

_CLAIM = re.compile(
    r"(?i)\b(?:I(?:'ve| have)?(?: now| just| successfully)?|is now"
    r"|(?:has|have|was|were)(?: now)?(?: been)?(?: successfully)?)\s+"
    r"(?:added|appended|changed|copied|created|deleted|edited|executed|made|moved|put|ran|removed|"
    r"renamed|replaced|run|saved|set|updated|wrote|written)\b"
)
ADMITS = re.compile(
    r"(?i)\b(?:not|fail(?:ed|s)?|error|unable|cannot|denied|refused|nothing|missing|no such"
    r"|(?:has|have|is|are|was) no)\b|n't\b"
)
"""Words of an answer that does not claim success."""


def not_done(answer: str, evidence: Evidence) -> Objection | None:
    """A change was asked for, or is claimed, and no tool made any."""
    if evidence.was_denied or evidence.changed or ADMITS.search(answer):
        return None
    claim = _CLAIM.search(answer)
    if not (evidence.wishes.change or evidence.wishes.run or (claim and evidence.results)):
        return None
    if not evidence.wishes.about_files and not evidence.results:
        return None
    said = f"You say {claim[0]!r}, but no tool did it." if claim else "It is not done yet."
    with_what = (
        "terminal: cp, mv or rm" if evidence.wishes.move else "write_file, patch or terminal"
    )
    return Objection(
        f"{said} So far nothing is changed. Do it now with {with_what}.",
        "nothing was changed; asked again",
        must_call="terminal" if evidence.wishes.move else "any",
    )


def failed_after_all(answer: str, evidence: Evidence) -> Objection | None:
    """The last call failed, and the answer tells of success."""
    if not evidence.last_failed or not _CLAIM.search(answer) or ADMITS.search(answer):
        return None
    last = evidence.results[-1]
    if last.call.name not in CHANGING:
        return None
    how = "was denied" if last.status == "denied" else "failed"
    then = "Tell the user so." if last.status == "denied" else "Try another way, or say so."
    return Objection(
        f"Your last call of {last.call.name} {how}, so it is not done. {then}",
        f"claimed what {how}; asked again",
    )
