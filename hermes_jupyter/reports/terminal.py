"""``%hermes terminal``: where commands run, and how to have them run elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.errors import TurnError
from tools.environments.backends import Backend, backends
from tools.environments.base import Environment
from tools.environments.host import HostError, Isolation
from tools.environments.terminals import Terminals

SHOWN_COMMAND_CHARS = 60


def terminal(magics: Any, words: Sequence[str]) -> None:
    session = magics.desktop.hermes.session()
    terminals: Terminals = session.terminals
    if words:
        session.must_be_free()
        _choose(terminals, words[0])
    known = backends()
    try:
        _show(terminals.current, known)
    except HostError as problem:
        print(f"terminal   {terminals.chosen}\nhealth     ✗ {problem}")
    others = [each for name, each in known.items() if name != terminals.chosen]
    for other in others:
        ready, text = other.available(terminals.settings)
        print(f"{'  or' if ready else '  not'} {other.name:<12} {text}")
    print("choose: %hermes terminal NAME, or TERMINAL_ENV=NAME before the kernel starts")


def where_of(session: Any) -> str:
    """The folder in which its next command starts, and in which place, if not here."""
    terminals: Terminals = session.terminals
    try:
        folder = terminals.current.cwd
    except HostError as problem:
        return f"nowhere ({problem})"
    return folder if terminals.current is terminals.local else f"{terminals.chosen}:{folder}"


def _choose(terminals: Terminals, name: str) -> None:
    try:
        terminals.choose(name)
    except HostError as problem:
        settings = backends()[name].options if name in backends() else {}
        lines = [f"  {setting:<28} {text}" for setting, text in settings.items()]
        raise TurnError("\n".join([f"{problem}. It stays as it was.", *lines])) from problem


def _show(environment: Environment, known: dict[str, Backend]) -> None:
    health, name = environment.health(), environment.backend
    title = known[name].title if name in known else name
    print(f"terminal   {name}, {title}")
    print(f"health     {'✓' if health.ok else '✗'} {health.text}")
    if not health.ok:
        return
    print(f"folder     {environment.cwd}")
    print(f"isolated   {_isolation(environment.isolation)}")
    running = [job for job in environment.processes.all() if job.status == "running"]
    print(f"jobs       {len(running) or 'none'}")
    for job in running:
        print(f"  {job.id} {job.command[:SHOWN_COMMAND_CHARS]!r}")


def _isolation(isolation: Isolation) -> str:
    network = f"network {'on' if isolation.network else 'off'}"
    if not isolation.isolated:
        return "no: commands may change whatever is there"
    if isolation.host_paths:
        return f"but for {', '.join(isolation.host_paths)} of this machine; {network}"
    return f"yes, {network}"
