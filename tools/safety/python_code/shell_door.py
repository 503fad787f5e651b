"""From Python to the judge of shell commands, which itself judges Python inside commands."""

from __future__ import annotations

from tools.safety.scene import Effect, Scene


def effects_of_shell(command: str, scene: Scene) -> list[Effect]:
    from tools.safety.commands import inspect_command  # it imports this package

    objection = inspect_command(command, scene.cwd)
    return [Effect(objection.reason, objection.forbidden)] if objection else []
