"""What the settings say about scanner and containment, in the words of those who see to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from hermes_jupyter.settings import Settings
from tools.environments.containment import Containment, Mode
from tools.safety.scanner import Finding, Scanner, ScannerChoice, is_wanted


def scanner_of(settings: Settings) -> ScannerChoice:
    """The scanner of commands."""
    return ScannerChoice(
        program=settings.scanner,
        timeout=settings.scanner_timeout,
        fail_open=settings.scanner_fail_open,
        places=(str(settings.home / "bin" / "tirith"),),  # where Hermes Agent keeps its own
    )


def containment_of(settings: Settings, workspace: str) -> Containment:
    """What commands of a session that works in ``workspace`` may touch."""
    return Containment(
        mode=cast(Mode, settings.containment),  # checked by the settings
        network=settings.network == "on",
        workspace=workspace,
        hidden=(str(settings.home), *settings.connection_folders),
    )


def scan_by(
    scanner: Scanner, settings: Settings, warn: Callable[[str], None]
) -> Callable[[str, str], Finding | None] | None:
    """How the scanner looks at a command in a folder, in any thread; None if there is none.

    ``warn`` is called on the loop where this is asked.
    """
    choice = scanner_of(settings)
    if not is_wanted(choice):
        return None
    loop = asyncio.get_running_loop()

    def warn_there(text: str) -> None:
        with suppress(RuntimeError):  # the turn and its loop may be gone
            loop.call_soon_threadsafe(warn, text)

    return lambda command, cwd: scanner.scan(command, cwd, choice, warn_there)
