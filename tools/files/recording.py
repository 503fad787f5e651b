"""Who is told of changes of files, so that they can be taken back later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Recorder(Protocol):
    """What a call is given as ``checkpoint``. Its methods never raise, and take any thread."""

    def before(self, paths: Sequence[str]) -> None:
        """These files of this machine are about to be changed, made or removed."""

    def after(self, paths: Sequence[str]) -> None:
        """They were."""

    def elsewhere(self, place: str) -> None:
        """Files of another machine are about to be changed."""
