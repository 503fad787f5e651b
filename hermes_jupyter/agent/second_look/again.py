"""Asks a model once more when its answer does not fit what the tools said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from hermes_jupyter.agent.asking import CeilingReached
from hermes_jupyter.agent.models.base import Message, Reply
from hermes_jupyter.agent.second_look.look import SecondLook
from hermes_jupyter.errors import ModelError

AskAgain = Callable[[list[Message]], Awaitable[Reply]]


async def looked_at(
    reply: Reply, look: SecondLook, tell: Callable[[str], None], ask_again: AskAgain
) -> Reply:
    """The reply that counts: this one, or what the model says when it is told what is wrong.

    Of the answer that was taken back nothing stays but its tokens. If the model cannot be asked
    again, or has nothing to say, its first answer counts.

    Parameters
    ----------
    tell
        Hears a line for the person.
    ask_again
        Asks with these messages behind the transcript.
    """
    if reply.calls or (objection := look.objection(reply.text)) is None:
        return reply
    tell(objection.to_person)
    asked = {"role": "user", "content": objection.to_model, "must_call": objection.must_call}
    try:
        second = await ask_again([{"role": "assistant", "content": reply.text}, asked])
    except (CeilingReached, ModelError):
        return reply
    if not (second.calls or second.text.strip()):
        second = replace(reply, usage=second.usage)
    return replace(second, usage=reply.usage + second.usage)
