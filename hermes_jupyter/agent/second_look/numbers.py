"""Numbers come from tools: small models miscount, and make figures up."""

from __future__ import annotations

import re

from hermes_jupyter.agent.second_look.evidence import Evidence, counts_in, numbers_in
from hermes_jupyter.agent.second_look.objection import Objection

NAMES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
WORDS = {name: str(number) for number, name in enumerate(NAMES)}
_GROUPED = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_TABLE = re.compile(r"(?i)\.(?:csv|tsv)$")
_LINES = re.compile(r"(?i)\blines?\b")
_WHOLE = re.compile(r"^\s*(?:wc -l|cat \S+ \| *wc -l)(?!.*\|)[^|]*$")
_WORD = re.compile(rf"(?i)\b(?:{'|'.join(WORDS)})\b")


def not_counted(answer: str, evidence: Evidence) -> Objection | None:
    """A number was asked for, and no tool has counted what the answer says."""
    if not (evidence.wishes.count and evidence.results) or evidence.was_denied:
        return None
    said = {*numbers_in(answer), *(WORDS[word.lower()] for word in _WORD.findall(answer))}
    counted = frozenset[str]().union(*map(counts_in, evidence.results))
    if not said or said & counted:
        return None
    return Objection(
        "No tool has counted that. Count with terminal, for example grep -c or wc -l, and answer "
        "with the number that it prints.",
        "counted without a tool; asked again",
        must_call="terminal",
    )


def with_header(answer: str, evidence: Evidence) -> Objection | None:
    """Rows of a table were asked for, and the answer counts its header among them."""
    table = next((name for name in evidence.wishes.files if _TABLE.search(name)), "")
    if not (evidence.wishes.count and table) or _LINES.search(evidence.request):
        return None
    if not evidence.results:
        return None
    last = evidence.results[-1]
    command = str(last.call.args.get("command") or "")
    if not (_WHOLE.search(command) and set(numbers_in(answer)) & counts_in(last)):
        return None
    return Objection(
        f"That counts the header line of {table}, too. Count again without it: "
        f"tail -n +2 {table} | wc -l",
        "counted the header of a table; asked again",
        must_call="terminal",
    )


def from_nowhere(answer: str, evidence: Evidence) -> Objection | None:
    """The answer has a number that is in no result, and was not asked about."""
    if not evidence.results or evidence.was_denied or evidence.wishes.count:
        return None
    known = evidence.numbers()
    answer = _GROUPED.sub(lambda match: match[0].replace(",", ""), answer)
    made_up = [number for number in numbers_in(answer) if number not in known and _counts(number)]
    if not made_up:
        return None
    return Objection(
        f"The number {made_up[0]} is in no result of a tool. Look at the results again and answer "
        "with what they say; if it must be worked out, do that with terminal: python3 -c ...",
        f"the number {made_up[0]} came from nowhere; asked again",
    )


def _counts(number: str) -> bool:
    """One digit is mostly a number of a step or of things in a sentence."""
    return len(number) > 1
