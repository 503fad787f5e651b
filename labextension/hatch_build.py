"""Puts the built extension of JupyterLab into the wheel; hatch calls it.

Where it cannot be built, the rest is packed without it: an agent in the kernel is of use alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))

import building


class LabExtensionHook(BuildHookInterface[Any]):
    """For wheels and the source distribution."""

    def dependencies(self) -> list[str]:
        """What pip shall bring for this build alone: Node.js, where it is needed and missing."""
        return building.needs()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            built = building.ensure()
        except building.NotBuilt as why:
            self.app.display_warning(
                f"Packed without the extension of JupyterLab: {why}\n{building.ADVICE}"
            )
            return
        if self.target_name == "wheel":
            build_data["shared_data"][str(built)] = building.PLACE
        else:
            build_data["artifacts"] += ["/labextension/built", "/labextension/built.sha256"]
