"""Where a script runs: on this machine within bounds, or where else the terminal is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from tools.environments.base import Environment
from tools.environments.bounds import NotContained
from tools.environments.host import Channel, HostError
from tools.environments.local import LocalEnvironment
from tools.environments.process_tree import end_session, session_members
from tools.scripts.boot import argv

SECONDS_TO_KILL = 10.0
KILL = """\
leader=$1
all=" $leader "
grown=1
while [ "$grown" = 1 ]
do
  grown=0
  for file in /proc/[0-9]*/stat
  do
    read -r line <"$file" 2>/dev/null || continue
    pid=${line%% *}
    set -- ${line##*) }
    case $all in
      *" $pid "*) continue
    esac
    case $all in
      *" $2 "*) ;;
      *) [ "$4" = "$leader" ] || continue
    esac
    all="$all$pid "
    grown=1
  done
done
kill -9 $all 2>/dev/null
kill -9 -- "-$leader" 2>/dev/null
:
"""
"""Given the number of a process: ends all of its session, and all that these have started."""


@dataclass(frozen=True, slots=True)
class Started:
    """A process that is to run a script."""

    channel: Channel
    kill: Callable[[int], None]
    """End it and all it has started; given its number, if that is known."""
    look: Callable[[], None]
    """Remember what it has started; when it has ended, nobody could tell any more."""
    bounds: str
    """What holds it, for a person; empty for nothing."""


def start(environment: Environment) -> Started:
    """Start a Python for a script, in the environment's folder.

    Raises
    ------
    HostError
        With what is to be done.
    """
    if isinstance(environment, LocalEnvironment):
        return _start_here(environment)
    return _start_there(environment)


def _start_here(environment: LocalEnvironment) -> Started:
    try:
        channel = environment.start_beside(argv(sys.executable))
    except NotContained as problem:
        raise HostError(f"the script must be contained and cannot be: {problem}") from None
    bounds = environment.bounds_beside
    members: set[int] = set()

    def kill(_pid: int) -> None:
        end_session(channel.pid, grace=0.0, also=members)

    def look() -> None:
        members.update(session_members(channel.pid, also={channel.pid}))

    return Started(channel, kill, look, "" if bounds == "off" else bounds)


def _start_there(environment: Environment) -> Started:
    host = environment.host
    channel = host.open(argv("python3"), cwd=environment.cwd)

    def kill(pid: int) -> None:
        if pid:
            host.run(["sh", "-c", KILL, "sh", str(pid)], timeout=SECONDS_TO_KILL)

    return Started(channel, kill, lambda: None, "")
