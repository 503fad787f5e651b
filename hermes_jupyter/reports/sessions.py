"""Reports on conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def new_session(magics: Any, words: Sequence[str]) -> None:
    session = magics.desktop.hermes.new_session(*words)
    magics.desktop.hermes.current = session.name
    print(f"A new conversation: {session.name}")


def list_sessions(magics: Any, _words: Sequence[str]) -> None:
    hermes = magics.desktop.hermes
    hermes.session()
    for session in hermes.sessions():
        mark = "*" if session.name == hermes.current else " "
        state = "  (busy)" if session.busy else ""
        print(f"{mark} {session.name}  {messages_of(session)} messages{state}")


def show_usage(magics: Any, _words: Sequence[str]) -> None:
    for session in magics.desktop.hermes.sessions():
        usage = session.usage
        print(
            f"{session.name}: {usage.prompt_tokens:,} tokens read "
            f"({usage.cached_tokens:,} from the cache), {usage.completion_tokens:,} written, "
            f"{usage.model_calls} model calls"
        )


def messages_of(session: Any) -> int:
    """How many messages a conversation has, without the system's."""
    return sum(message["role"] != "system" for message in session.transcript)
