"""Reports on conversations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from hermes_jupyter.calls import Usage
from hermes_jupyter.kernel.runner import start
from hermes_jupyter.views.sanitize import one_line
from hermes_jupyter.views.words import cost_of, count


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


SHOWN_CALLS = 20


def show_usage(magics: Any, words: Sequence[str]) -> None:
    """What the conversations of this kernel took; with ``--calls`` each of the last calls."""
    for session in magics.desktop.hermes.sessions():
        print(f"{session.name}: {usage_line(session.usage)}")
        models = session.usage_log.by_model()
        for name, usage in models.items() if len(models) > 1 else ():
            print(f"  {one_line(name, 60)}: {usage_line(usage)}")
        for call in session.usage_log.calls[-SHOWN_CALLS:] if "--calls" in words else ():
            when = time.strftime("%H:%M:%S", time.localtime(call.at))
            purpose = "" if call.purpose == "step" else f" ({call.purpose})"
            name = one_line(call.model, 60)
            print(f"  {when}  {call.seconds:6.1f} s  {name}{purpose}: {usage_line(call.usage)}")


def usage_line(usage: Usage) -> str:
    """ "12,000 tokens read (63 % from the cache), 800 written, 9 model calls, $0.01 (list ...)"."""
    read = usage.prompt_tokens
    share = f" ({usage.cached_tokens / read:.0%} from the cache)" if read else ""
    cost = cost_of(usage)
    source = f", {cost} ({usage.price_source})" if cost else ""
    return (
        f"{read:,} tokens read{share}, {usage.completion_tokens:,} written, "
        f"{count(usage.model_calls, 'model call')}{source}"
    )


def messages_of(session: Any) -> int:
    """How many messages a conversation has, without the system's."""
    return int(session.transcript.count_said())


def compact(magics: Any, _words: Sequence[str]) -> None:
    """Make the current conversation shorter now."""
    hermes = magics.desktop.hermes
    session, settings = hermes.session(), hermes.settings
    session.must_be_free()
    told: list[str] = []

    def hear(event: Any) -> None:
        told.append(event.text)

    def count(usage: Usage) -> None:
        session.usage += usage

    async def work() -> bool:
        compactor = hermes.compactor(session, settings, hear, count)
        with session.occupied():  # a turn must not begin meanwhile
            return bool(await compactor.compact(hermes.model(settings), thorough=True))

    run = start(work)
    try:
        done = run.future.result()
    except KeyboardInterrupt:
        run.cancel()
        raise
    print("\n".join(told) if told else "There is nothing to make shorter.")
    if told and not done:
        print("The conversation stays as it was.")
