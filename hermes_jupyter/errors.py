"""The exceptions of this project.

    HermesError                 anything that a user should read as one line
    ├── ConfigurationError      a setting is wrong or missing
    ├── ModelError              a model call failed; ``kind`` says how
    │   └── TooLongError        the conversation does not fit into the model's window
    ├── StoreError              what is kept on disk cannot be read or written
    │   └── RecordingError      a recording is missing, does not fit, or is broken
    └── TurnError               a turn could not start or go on
    TurnInterrupted             (a KeyboardInterrupt) the person stopped the turn
    TurnCancelled               (a CancelledError) the same for a turn that is awaited

Shown in a cell, each is a single line and not a traceback: a traceback of our own code helps
nobody whose API key is missing. ``__cause__`` keeps the whole story for a bug report.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from hermes_jupyter.redaction import redact

ModelErrorKind = Literal[
    "no_model",  # nothing is configured
    "auth",  # 401, 403
    "billing",  # 402, or a quota that is used up
    "not_found",  # unknown model or path
    "rate_limit",  # 429
    "connection",  # refused, reset, unknown host
    "timeout",  # not even the beginning of an answer
    "server",  # 5xx
    "broken",  # the stream ended, stalled or failed before the answer did
    "context",  # the conversation is larger than the model's window
    "image",  # the model takes no images, or not these
    "policy",  # the provider's filter refuses the request or stops the answer
    "bad_request",  # other 4xx
    "malformed",  # what answers is no model
]

RETRYABLE: frozenset[ModelErrorKind] = frozenset(
    {"rate_limit", "connection", "timeout", "server", "broken"}
)


class HermesError(Exception):
    """What a user reads as one line. The message names the value and the remedy."""

    def __str__(self) -> str:
        return redact(super().__str__())

    def _render_traceback_(self) -> list[str]:  # IPython asks an exception how to show itself
        return [f"{type(self).__name__}: {self}"]


class ConfigurationError(HermesError):
    """A setting is wrong or missing."""


class StoreError(HermesError):
    """What is kept on disk cannot be read or written."""


class RecordingError(StoreError):
    """A recording is missing, does not fit the cell, or is broken."""


class TurnError(HermesError):
    """A turn could not start or go on."""


class ModelError(HermesError):
    """A model call failed.

    Parameters
    ----------
    message : str
        One line for a person, with the remedy.
    kind : ModelErrorKind
        What went wrong; decides what the agent may do about it.
    retry_after : float, optional
        Seconds the server asked us to wait.
    """

    def __init__(
        self, message: str, *, kind: ModelErrorKind, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE


class TooLongError(ModelError):
    """The conversation does not fit into the model's window: it has to become shorter.

    Parameters
    ----------
    window, asked : int
        Tokens that fit, and tokens that were sent, as far as the server says so; else 0.
    """

    def __init__(self, message: str, *, window: int = 0, asked: int = 0) -> None:
        super().__init__(message, kind="context")
        self.window = window
        self.asked = asked


class TurnInterrupted(KeyboardInterrupt):
    """The person stopped the turn. A KeyboardInterrupt, so that Run All stops too."""

    def _render_traceback_(self) -> list[str]:
        return [f"Interrupted: {self}"]


class TurnCancelled(asyncio.CancelledError):
    """The person stopped a turn that is awaited.

    No KeyboardInterrupt: out of a task it would end the loop, and with it the kernel.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"Interrupted: {self}"]
