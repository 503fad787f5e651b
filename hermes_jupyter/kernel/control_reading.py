"""Keeps ipykernel 6.29 reading its control channel, whatever comes.

There a message that is none (without the mark before its parts, or without a type) ends the task
that reads, for good: nobody could answer, interrupt or shut down over that channel any more.
Later versions go on by themselves.
"""

from __future__ import annotations

import logging
from typing import Any

logger = logging.getLogger(__name__)

NONE = (ValueError, LookupError, TypeError, AttributeError)
"""What reading such a message raises."""


class KeptReading:
    """Has the kernel go on after what is no message, until it is closed."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._is_needed = hasattr(kernel, "poll_control_queue")
        if self._is_needed:
            self._process = kernel.process_control
            kernel.process_control = self._try

    def close(self) -> None:
        """Let the kernel read as before."""
        if self._is_needed:
            del self._kernel.process_control

    async def _try(self, frames: Any) -> None:
        try:
            await self._process(frames)
        except NONE:
            logger.warning("what came on the control channel is no message", exc_info=True)
