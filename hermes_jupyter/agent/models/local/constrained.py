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
from hermes_jupyter.agent.wishes import key_word, named_files, wishes_of

FINAL = {
    "type": "object",
    "properties": {"final": {"type": "string", "minLength": 1}},
    "required": ["final"],
    "additionalProperties": False,
}
PLAN = {"type": "string", "minLength": 1, "maxLength": 240}
SAMPLING = (
    "temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias",
)  # fmt: skip
MOST_TOKENS = 2048  # of a reply, unless the request says otherwise
MOST_REPEATS = 3
GREP = re.compile(r"\s*(?:grep|awk|sed -n)\s(?!.*(?:-[a-z]*c\b|\bwc\b))")
"""Commands that show lines without their surroundings; not those that count."""
HINT = "Now use read_file to read"
LOST = "Nobody has named that file. Now use search_files to find"
NO_FILE = "error: No such file"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model is shown it."""

    name: str
    manual: str
    parameters: dict[str, Any]
    """A cleaned schema."""

    def line(self) -> str:
        return f"- {self.name}({', '.join(self.parameters['properties'])}): {self.manual}"

    def definition(self) -> dict[str, Any]:
        """The tool as the API has it."""
        about = {"name": self.name, "description": self.manual, "parameters": self.parameters}
        return {"type": "function", "function": about}

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
    """The first messages, the same in every session."""
    spoken: list[dict[str, str]]
    options: dict[str, Any]

    def whole(self) -> list[dict[str, str]]:
        """All messages, with one of the system, as any template has it."""
        (manual, *shown), spoken = self.preface, self.spoken
        if spoken and spoken[0]["role"] == "system":
            said = {"role": "system", "content": f"{manual['content']}\n\n{spoken[0]['content']}"}
            manual, spoken = said, spoken[1:]
        return [manual, *shown, *spoken]

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
    spoken = [*context(request["messages"]), *conversation(request["messages"])]
    schema = reply_schema(tools, request.get("tool_choice") or "auto", spoken)
    if request.get("plan") and not calls_of_turn(spoken):
        schema = with_plan(schema)
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
    return Constrained(preface(tools, plan=bool(request.get("plan"))), spoken, options)


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
            examples.REQUIRED.get(name, ()),
        ),
    )


def short(definitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return definitions of tools with a line for each, and few parameters."""
    return [tool_of(entry["function"]).definition() for entry in definitions]


def preface(tools: Sequence[Tool], *, plan: bool = False) -> list[dict[str, str]]:
    """Return the manual and the examples: the same for all sessions that offer these tools."""
    manual = examples.MANUAL % "\n".join(tool.line() for tool in tools)
    manual += examples.PLAN_MANUAL * plan
    parameters = {tool.name: set(tool.parameters["properties"]) for tool in tools}
    shown = [example for example in examples.EXAMPLES if example.fits(parameters)]
    return [
        {"role": "system", "content": manual},
        *(message for example in shown for message in example.messages()),
    ]


def context(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return what the caller has to say to the model, such as the folder.

    It stands behind the examples: another folder must not make the engine read all of them again.
    """
    parts = [
        text_of(message["content"])
        for message in messages
        if message["role"] in {"system", "developer"}
    ]
    return [{"role": "system", "content": "\n\n".join(parts)}] if parts else []


def conversation(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the dialog in the form in which the model itself speaks."""
    spoken: list[dict[str, str]] = []
    calls: dict[str, tuple[str, Any]] = {}
    request = ""
    for message in messages:
        match message["role"]:
            case "user":
                request = text_of(message["content"])
                spoken.append(user(request))
            case "assistant":
                for call in message.get("tool_calls") or []:
                    calls[call["id"]] = (call["function"]["name"], arguments_of(call))
                    plan = (message.get("extras") or {}).get("plan", "")
                    spoken.append(called(*calls[call["id"]], plan))
                if not message.get("tool_calls") and message.get("content"):
                    spoken.append(answered(text_of(message["content"])))
            case "tool":
                name, arguments = calls.get(message["tool_call_id"], ("", {}))
                result = resulted(name, text_of(message["content"]))
                spoken.append(result)
                if name == "read_file" and not named_files(request):
                    spoken[-1] = searching(result, request)
                elif looked_for(name, arguments):
                    spoken[-1] = hinted(result, request)
    return spoken


def looked_for(name: str, arguments: Any) -> bool:
    """Was this a search, by our tool or by a command?"""
    command = arguments.get("command") if isinstance(arguments, dict) else None
    return name == "search_files" or bool(
        name == "terminal" and isinstance(command, str) and GREP.match(command)
    )


def searching(result: dict[str, str], request: str) -> dict[str, str]:
    """After a file that was made up, have the model search instead of making up what it says."""
    if not result["content"].startswith(RESULT + NO_FILE):
        return result
    return user(f"{result['content']}\n{LOST} {key_word(request)}")


def hinted(result: dict[str, str], request: str) -> dict[str, str]:
    """After a search, remind of the file that the user named.

    Small models search for the name of a file, or for a word of the question, and then make up what
    the file says, or take a line for something else. With the hint comes the duty to go on, see
    `reply_schema`. Of what was to be changed or counted, they need not know the rest.
    """
    wishes = wishes_of(request)
    if not wishes.files or wishes.count or wishes.change:
        return result
    return user(f"{result['content']}\n{HINT} {wishes.files[0]}")


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
    last = spoken[-1]["content"] if spoken else ""
    must_call = choice == "required" or HINT in last or LOST in last
    replies = [tool.call_schema() for tool in tools] + ([] if must_call else [FINAL])
    return replies[0] if len(replies) == 1 else {"anyOf": replies}


def with_plan(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the same replies, each with a plan in front."""
    if "anyOf" in schema:
        return {"anyOf": [with_plan(each) for each in schema["anyOf"]]}
    return {
        **schema,
        "properties": {"plan": PLAN, **schema["properties"]},
        "required": ["plan", *schema["required"]],
    }


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
