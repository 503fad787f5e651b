"""Does an answer say what the tools brought, or only words around it?"""

from __future__ import annotations

import re

from hermes_jupyter.agent.models.local.results import plain
from hermes_jupyter.agent.second_look.claims import ADMITS
from hermes_jupyter.agent.second_look.evidence import Evidence, failed, numbers_in, output_of
from hermes_jupyter.agent.second_look.objection import Objection
from hermes_jupyter.agent.wishes import named_files
from hermes_jupyter.calls import ToolResult

SHORT_OUTPUT = 400
"""Characters of an output that an answer can quote."""
_LINE = re.compile(r"(?m)^(?:\(\d+ lines\)$|\d+\||\d+ found$|[\w./-]+:\d+: )")
_TOKEN = re.compile(r"\w+")
_WORD = re.compile(r"[^\W_]{2,}")
_EMPTY = frozenset(
    ("the", "is", "are", "of", "it", "in", "to", "and", "that", "this", "by", "for", "on", "be",
     "its", "was", "with", "as", "an", "or", "at", "from", "has", "does", "do", "which", "what",
     "values", "value", "function", "returns", "return", "file", "says", "there")
)  # fmt: skip


def not_followed(answer: str, evidence: Evidence) -> Objection | None:
    """A file that was read points to another one, and the answer stops there."""
    if evidence.was_denied or evidence.wishes.which_file or evidence.wishes.change:
        return None
    for name in named_files(answer):
        if name in evidence.wishes.files or evidence.asked_for(name):
            continue
        if any(name in each.text for each in evidence.results if each.call.name == "read_file"):
            return Objection(
                f"{name} is named there, and you have not read it. Read it, then answer.",
                f"did not look into {name}; asked again",
                must_call="read_file",
            )
    return None


def not_told(answer: str, evidence: Evidence) -> Objection | None:
    """A command was to be run, and the answer has nothing of what it printed."""
    if not evidence.wishes.run or not evidence.results or failed(evidence.results[-1]):
        return None
    output = output_of(evidence.results[-1]).strip()
    printed = {*_TOKEN.findall(output)}
    news = printed - {*_TOKEN.findall(evidence.request)} or printed
    if not news or len(output) > SHORT_OUTPUT or news & {*_TOKEN.findall(answer)}:
        return None
    return Objection(
        f"Say what it printed, too:\n{output}",
        "did not say what was printed; asked again",
    )


def no_value(answer: str, evidence: Evidence) -> Objection | None:
    """A value was asked for, the tools said some, and the answer has none."""
    if not (evidence.wishes.value and evidence.results) or evidence.was_denied:
        return None
    seen = any(numbers_in(shown(each)) for each in evidence.results)
    if not seen or re.search(r"\d", answer) or ADMITS.search(answer):
        return None
    return Objection(
        "The question asks for a value, and your answer has none. Say it as well.",
        "the answer had no value; asked again",
    )


def only_repeated(answer: str, evidence: Evidence) -> Objection | None:
    """All the words of the answer are those of the question."""
    if not evidence.results or evidence.was_denied or evidence.wishes.change:
        return None
    asked = {_stem(word) for word in _WORD.findall(evidence.request)}
    said = {_stem(word) for word in _WORD.findall(answer) if word.lower() not in _EMPTY}
    if said - asked or re.search(r"\d", answer):
        return None
    seen = shown(evidence.results[-1])[:SHORT_OUTPUT]
    return Objection(
        f"That only repeats the question. Say what this means for it:\n{seen}",
        "the answer repeated the question; asked again",
    )


def shown(result: ToolResult) -> str:
    """A result as a small model reads it, without the numbers of lines."""
    return _LINE.sub("", plain(result.call.name, result.text))


def _stem(word: str) -> str:
    return word.lower().rstrip("s")
