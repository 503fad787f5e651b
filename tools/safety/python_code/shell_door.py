"""From Python to the judge of shell commands, which itself judges Python inside commands."""

from __future__ import annotations

from tools.safety.scene import Effect, Scene


def effects_of_shell(command: str, scene: Scene) -> list[Effect]:
    from tools.safety import judge  # it imports this package

    return judge.effects_of_shell(command, scene)
