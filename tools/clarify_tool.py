"""Ask the person a question and wait for the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.files import arguments
from tools.files.answering import answering
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result

MAX_CHOICES = 4

SCHEMA = {
    "name": "clarify",
    "description": (
        "Ask the person one question and wait for the answer. Use it only when the task can be "
        "read in several ways and a wrong guess would cost work; never for permission, which is "
        "asked for automatically. Returns user_response."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "The question, complete in itself."},
            "choices": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MAX_CHOICES,
                "description": "Up to 4 answers to choose from; a free answer is always possible.",
            },
        },
        "required": ["question"],
    },
}


@answering()
def clarify(args: dict[str, Any], **context: Any) -> str:
    """Handler: ask through ``context["ask"]``."""
    ask = context.get("ask")
    if not callable(ask):
        return tool_error("clarify must be handled by the agent loop")
    question = arguments.text(args, "question").strip()
    if not question:
        raise Problem("The question is empty")
    choices = _choices(args)
    response = ask(question, choices)
    if response is None:
        return tool_error(
            "Nobody can be asked now. Go on with your best judgement, and say in your answer "
            "what you assumed",
            question=question,
        )
    return tool_result(question=question, choices_offered=list(choices), user_response=response)


def _choices(args: Mapping[str, Any]) -> tuple[str, ...]:
    given = args.get("choices") or []
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        raise Problem("'choices' must be a list of texts")
    choices = tuple(dict.fromkeys(each.strip() for each in given if each.strip()))
    if len(choices) > MAX_CHOICES:
        raise Problem(f"{len(choices)} choices are too many; offer {MAX_CHOICES} at most")
    return choices


registry.register(
    name="clarify",
    toolset="clarify",
    schema=SCHEMA,
    handler=clarify,
    emoji="❓",
    reads_only=lambda args, **_: True,
)
