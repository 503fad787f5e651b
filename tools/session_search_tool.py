"""Look into earlier conversations: browse, find, scroll, read. No model takes part."""

from __future__ import annotations

from typing import Any, Protocol

from tools.files import arguments
from tools.files.answering import answering
from tools.files.problems import Problem
from tools.registry import registry, tool_error, tool_result

DEFAULT_LIMIT, MAX_LIMIT = 3, 10
DEFAULT_WINDOW, MAX_WINDOW = 5, 20
ROLES = ("user", "assistant", "tool")
ORDERS = ("relevance", "newest", "oldest")

SCHEMA = {
    "name": "session_search",
    "description": (
        "Look into stored conversations with the user, also of other notebooks. Use it when the "
        "user refers to earlier work, or before you ask what they may have said before. Without "
        "arguments: the latest sessions. With query: sessions in which a message has all words "
        '("a phrase" in quotes; one OR other), each with the match and what stands around it. '
        "With session_id: its beginning and its end. With session_id and around_message_id: the "
        "messages around one, to read on."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to find, in any language."},
            "limit": {
                "type": "integer",
                "default": DEFAULT_LIMIT,
                "maximum": MAX_LIMIT,
                "description": "How many sessions to return.",
            },
            "sort": {
                "type": "string",
                "enum": list(ORDERS),
                "description": "Best first by default.",
            },
            "role_filter": {
                "type": "string",
                "description": "Find only in messages of these roles, such as user,assistant.",
            },
            "session_id": {"type": "string", "description": "A session from an earlier answer."},
            "around_message_id": {
                "type": "integer",
                "description": "A message_id from an earlier answer.",
            },
            "window": {
                "type": "integer",
                "default": DEFAULT_WINDOW,
                "maximum": MAX_WINDOW,
                "description": "How many messages before and after it.",
            },
        },
        "required": [],
    },
}


class Conversations(Protocol):
    """What this tool needs of the place where conversations are stored.

    All raise a LookupError, whose text says what is wrong, for what is not there.
    """

    def latest(self, limit: int) -> list[dict[str, Any]]: ...

    def find(
        self, query: str, *, limit: int, order: str, roles: tuple[str, ...]
    ) -> tuple[list[dict[str, Any]], int]: ...

    def read(self, session: str) -> dict[str, Any]: ...

    def around(self, session: str, message: int, window: int) -> dict[str, Any]: ...


@answering()
def session_search(args: dict[str, Any], **context: Any) -> str:
    """Handler: the mode follows from which arguments are given."""
    conversations: Conversations | None = context.get("conversations")
    if conversations is None:
        return tool_error("session_search must be handled by the agent loop")
    limit = arguments.number(args, "limit", DEFAULT_LIMIT, (1, MAX_LIMIT))
    query = arguments.text(args, "query", "").strip()
    session = arguments.text(args, "session_id", "").strip()
    try:
        if session:
            return _of_session(conversations, session, args)
        if query:
            return _found(conversations, query, limit, args)
        latest = conversations.latest(limit)
    except LookupError as error:
        raise Problem(str(error.args[0])) from None
    return tool_result(mode="browse", sessions=latest, count=len(latest))


def _of_session(conversations: Conversations, session: str, args: dict[str, Any]) -> str:
    message = arguments.number(args, "around_message_id", -1, (0, 10**12))
    if message < 0:
        return tool_result({"mode": "read", **conversations.read(session)})
    window = arguments.number(args, "window", DEFAULT_WINDOW, (1, MAX_WINDOW))
    return tool_result({"mode": "scroll", **conversations.around(session, message, window)})


def _found(conversations: Conversations, query: str, limit: int, args: dict[str, Any]) -> str:
    named = [role.strip() for role in arguments.text(args, "role_filter", "").split(",")]
    roles = tuple(role for role in named if role)
    if wrong := [role for role in roles if role not in ROLES]:
        raise Problem(f"role_filter takes {', '.join(ROLES)}, not {wrong[0]!r:.80}")
    order = arguments.choice(args, "sort", ORDERS)
    results, searched = conversations.find(query, limit=limit, order=order, roles=roles)
    return tool_result(
        mode="find",
        query=query,
        results=results,
        count=len(results),
        sessions_searched=searched,
        **({} if results else {"hint": "Fewer or other words may find more; OR finds either."}),
    )


registry.register(
    name="session_search",
    toolset="session_search",
    schema=SCHEMA,
    handler=session_search,
    emoji="🗂",
    effects="read",
    resources=lambda args: (),
    trusted=False,
)
