"""Turn a request with tools into one that a small model cannot answer wrongly in form.

The model may only write ``{"tool": NAME, "arguments": {...}}``, with that tool's arguments, or
``{"final": TEXT}``: the engine's grammar sees to it. What it wrote is turned back in `answers`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.agent.models.local import examples, schemas
from hermes_jupyter.agent.models.local.examples import RESULT, answered, called, resulted, user
from hermes_jupyter.agent.models.local.results import NAMES_FOUND, NOTHING_FOUND

FINAL = {
    "type": "object",
    "properties": {"final": {"type": "string", "minLength": 1}},
    "required": ["final"],
    "additionalProperties": False,
}
SAMPLING = (
    "temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias",
)  # fmt: skip
MOST_TOKENS = 2048  # of a reply, unless the request says otherwise
MOST_REPEATS = 3
HINT = "Now use read_file to read"
FILE_NAME = re.compile(r"[\w./-]*\w\.[A-Za-z]\w{0,4}\b")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model is shown it."""

    name: str
    manual: str
    parameters: dict[str, Any]
    """A cleaned schema."""

    def line(self) -> str:
        return f"- {self.name}({', '.join(self.parameters['properties'])}): {self.manual}"

    def call_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"tool": {"const": self.name}, "arguments": self.parameters},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class Constrained:
    """A request for the engine."""

    preface: list[dict[str, str]]
    """The first messages, the same for every request of a session."""
    spoken: list[dict[str, str]]
    options: dict[str, Any]

    def body(self) -> dict[str, Any]:
        return {**self.options, "messages": [*self.preface, *self.spoken]}


def constrained(request: Mapping[str, Any]) -> Constrained:
    """Return the engine's request for a request with tools.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError
        If the request is not of the form that the Chat Completions API describes.
    """
    tools = [tool_of(entry["function"]) for entry in request["tools"]]
    spoken = conversation(request["messages"])
    schema = reply_schema(tools, request.get("tool_choice") or "auto", spoken)
    options = {
        "temperature": 0,
        **{key: request[key] for key in SAMPLING if key in request},
        "max_tokens": request.get("max_tokens") or MOST_TOKENS,
        "cache_prompt": True,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema},
        },
    }
    return Constrained(preface(tools, request["messages"]), spoken, options)


def tool_of(function: Mapping[str, Any]) -> Tool:
    name = function["name"]
    description = str(function.get("description") or "").strip().partition("\n")[0][:200]
    return Tool(
        name,
        examples.SHORT_MANUALS.get(name, description),
        schemas.essential(
            schemas.cleaned(function.get("parameters") or {}),
            examples.SHOWN_OPTIONS.get(name),
            examples.MOST_PARAMETERS,
        ),
    )


def preface(tools: Sequence[Tool], messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the system message and the examples: the same for every request of a session."""
    parts = [
        text_of(message["content"])
        for message in messages
        if message["role"] in {"system", "developer"}
    ]
    manual = examples.MANUAL % "\n".join(tool.line() for tool in tools)
    parameters = {tool.name: set(tool.parameters["properties"]) for tool in tools}
    shown = [example for example in examples.EXAMPLES if example.fits(parameters)]
    return [
        {"role": "system", "content": "\n\n".join([*parts, manual])},
        *(message for example in shown for message in example.messages()),
    ]


def conversation(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the dialog in the form in which the model itself speaks."""
    spoken: list[dict[str, str]] = []
    names: dict[str, str] = {}
    request = ""
    for message in messages:
        match message["role"]:
            case "user":
                request = text_of(message["content"])
                spoken.append(user(request))
            case "assistant":
                for call in message.get("tool_calls") or []:
                    names[call["id"]] = call["function"]["name"]
                    spoken.append(called(names[call["id"]], arguments_of(call)))
                if not message.get("tool_calls") and message.get("content"):
                    spoken.append(answered(text_of(message["content"])))
            case "tool":
                name = names.get(message["tool_call_id"], "")
                result = resulted(name, text_of(message["content"]))
                spoken.append(hinted(result, name, request))
    return spoken


def hinted(result: dict[str, str], name: str, request: str) -> dict[str, str]:
    """After a search that did not look into it, remind of the file that the user named.

    Small models search for the name of a file, or for a word of the question, and then make up what
    the file says. With the hint comes the duty to go on, see `reply_schema`.
    """
    named = FILE_NAME.search(request)
    found = result["content"].removeprefix(RESULT)
    if name != "search_files" or not named or not found.startswith((NOTHING_FOUND, NAMES_FOUND)):
        return result
    return user(f"{result['content']}\n{HINT} {named[0]}")


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def arguments_of(call: Mapping[str, Any]) -> Any:
    try:
        return json.loads(call["function"]["arguments"] or "{}")
    except ValueError:  # a transcript may hold what another model wrote
        return {}


def reply_schema(
    tools: Sequence[Tool], choice: Any, spoken: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """Return the schema of the next reply: a call, the final answer, or either."""
    if isinstance(choice, Mapping):
        name = choice["function"]["name"]
        return next(tool for tool in tools if tool.name == name).call_schema()
    if choice == "auto" and goes_in_circles(calls_of_turn(spoken)):
        return FINAL
    must_call = choice == "required" or (bool(spoken) and HINT in spoken[-1]["content"])
    replies = [tool.call_schema() for tool in tools] + ([] if must_call else [FINAL])
    return replies[0] if len(replies) == 1 else {"anyOf": replies}


def goes_in_circles(calls: Sequence[str]) -> bool:
    """Whether the model asks for the same again and again, as small ones do."""
    repeated = len(calls) >= 2 and calls[-1] == calls[-2]
    return repeated or (bool(calls) and calls.count(calls[-1]) >= MOST_REPEATS)


def calls_of_turn(spoken: Sequence[Mapping[str, str]]) -> list[str]:
    """Return what the assistant asked for since the user last spoke."""
    calls: list[str] = []
    for message in spoken:
        if message["role"] == "assistant":
            calls.append(message["content"])
        elif not message["content"].startswith(RESULT):
            calls = []
    return calls
