"""What the settings say about scanner and containment, in the words of those who see to it."""

from __future__ import annotations

from typing import cast

from hermes_jupyter.settings import Settings
from tools.environments.containment import Containment, Mode
from tools.safety.scanner import ScannerChoice


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
