"""Is a line that was to go gone as a whole? Small models replace a word of it by nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hermes_jupyter.agent.second_look.evidence import Evidence, failed, field_of
from hermes_jupyter.agent.second_look.objection import Objection

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")


def left_over(answer: str, evidence: Evidence) -> Objection | None:
    """A patch took a part of a line that was to be removed."""
    if not (evidence.wishes.remove_line and evidence.results):
        return None
    last = evidence.results[-1]
    if last.call.name != "patch" or failed(last):
        return None
    path = str(last.call.args.get("path") or "")
    for number, text in leftovers(field_of(last, "diff")):
        return Objection(
            f"The line is not gone: line {number} of {path} is now {text!r}. Remove all of it with "
            f"terminal: sed -i {number}d {path}",
            "a part of the line was left; asked again",
            must_call="terminal",
        )
    return None


def leftovers(diff: str) -> Iterator[tuple[int, str]]:
    """Lines of a unified diff that are what is left of a longer one, with their numbers."""
    number, gone = 0, ""
    for line in diff.splitlines():
        if hunk := _HUNK.match(line):
            number, gone = int(hunk[1]), ""
        elif line.startswith("-"):
            gone = line[1:]
        else:
            if line.startswith("+") and gone and line[1:] != gone and line[1:].strip() in gone:
                yield number, line[1:]
            gone = ""
            number += 1
