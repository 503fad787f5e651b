"""Our agent on the tasks, with the settings of a user who has no key."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from hermes_jupyter.events import ApprovalRequested, Event, NoticeGiven, ToolCallFinished
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.session import Session
from hermes_jupyter.settings import load
from hermes_jupyter.turn_values import TurnOptions
from tests.tasks.peer_tools import Folder
from tests.tasks.tries import Attempt
from tools.async_bridge import run_async

MINE = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HERMES_MODEL")
Decision = Literal["once", "deny"]


class Person:
    """Answers what the agent asks, and writes down what it does."""

    def __init__(self, folder: Folder, session: Session) -> None:
        self._folder, self._session = folder, session
        self.notices: list[str] = []

    def __call__(self, event: Event) -> None:
        match event:
            case ApprovalRequested(request=request):
                asyncio.get_running_loop().call_soon(self._answer, request.id, request.digest)
            case ToolCallFinished(result=result):
                self._folder.calls.append(result.call.name)
            case NoticeGiven(text=text, key="") if text:
                self.notices.append(text)

    def _answer(self, name: str, digest: str) -> None:
        decision: Decision = "once" if self._folder.task.person == "allows" else "deny"
        self._session.desk.answer(name, decision, by="widget", digest=digest)


@contextmanager
def our_agent(**chosen: str) -> Iterator[Attempt]:
    """Our agent; ``chosen`` are settings that differ from what a user gets."""
    with tempfile.TemporaryDirectory(prefix="hermes-home-") as home:
        env = {name: value for name, value in os.environ.items() if name not in MINE}
        hermes = Hermes(load(chosen, {**env, "HERMES_HOME": home}))

        def attempt(folder: Folder) -> str:
            session = hermes.new_session()
            person = Person(folder, session)
            turn = hermes.turn(
                folder.task.prompt, session=session, options=TurnOptions(), listeners=[person]
            )
            answer = run_async(turn).text
            folder.notices = person.notices
            return answer

        try:
            yield attempt
        finally:
            run_async(hermes.close())
