"""Ask several models the same thing and get one answer made of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tools.availability import Availability
from tools.files import arguments
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result

MAX_CHARS = 200_000
HOUR = 3_600.0

SCHEMA = {
    "name": "mixture_of_agents",
    "description": (
        "Put a hard question to several models at once and get one answer made of theirs. They "
        "have no tools and know nothing of this conversation, so the question must hold all that "
        "is needed. It takes long and costs several model calls: use it for hard reasoning, "
        "mathematics, or decisions that deserve several opinions."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "user_prompt": {"type": "string", "description": "The question, complete in itself."}
        },
        "required": ["user_prompt"],
    },
}


class Mixture(Protocol):
    """Who asks the models; see ``hermes_jupyter.delegation``."""

    async def ask(self, prompt: str, *, call_id: str, cancelled: Any) -> dict[str, Any]:
        """``success``, ``response``, ``models_used`` ...; ``error`` if nothing came of it."""
        ...


async def mixture_of_agents(args: Mapping[str, Any], **context: Any) -> str:
    """Handler: ask through ``context["mixture"]``."""
    mixture: Mixture | None = context.get("mixture")
    if mixture is None:
        return tool_error("mixture_of_agents must be handled by the agent loop")
    try:
        prompt = arguments.text(args, "user_prompt")
        if not prompt.strip():
            raise Problem("'user_prompt' is empty; write the whole question")
        if len(prompt) > MAX_CHARS:
            raise Problem(f"'user_prompt' has {len(prompt):,} characters, more than {MAX_CHARS:,}")
        found = await mixture.ask(
            prompt, call_id=context["tool_call_id"], cancelled=context["cancelled"]
        )
    except (Problem, ValueError) as problem:
        return tool_error(str(problem), success=False)
    return tool_result(found)


def is_configured() -> Availability:
    """Not by itself: an agent whose settings name models has the tool without this check."""
    return Availability(
        ok=False,
        reason="no models are named for it",
        remedy=(
            "%config Hermes.mixture = {'reference_models': ['NAME', 'NAME']}, or moa: in "
            "config.yaml"
        ),
    )


registry.register(
    name="mixture_of_agents",
    toolset="moa",
    schema=SCHEMA,
    handler=mixture_of_agents,
    is_async=True,
    emoji="🧠",
    check_fn=is_configured,
    effects="read",
    resources=lambda args: (),
    reads_only=lambda args, **_: True,
    timeout=HOUR,
)
