"""What the next turn is asked when the last one shall be gone on with."""

from __future__ import annotations

from hermes_jupyter.errors import TurnError
from hermes_jupyter.session import Session

GO_ON = (
    "Go on with the task where it stopped. Nothing was run again. Of a call that was interrupted, "
    "or of which it is unknown whether it ran, look first what it has done; one that was skipped "
    "has done nothing."
)


def next_prompt(session: Session) -> str:
    """The prompt that goes on with what was interrupted, stopped or broken.

    What the person has said since and nobody has read comes with it, or is all there is.

    Raises
    ------
    TurnError
        If there is nothing to go on with.
    """
    left = session.unfinished
    if left is not None:
        return GO_ON if left.is_kept else left.prompt
    unread = session.mailbox.pending()
    if not unread:
        raise TurnError("there is nothing to go on with: the last turn came to its end")
    session.mailbox.told(len(unread))
    return "\n\n".join(unread)
