"""The program ``apptainer``, or ``singularity`` where it is still called so."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.environments.host import HostError
from tools.environments.local_host import run_process
from tools.secrets.variables import for_children

NAMES = ("apptainer", "singularity")
MISSING = "neither apptainer nor singularity is on PATH; install one (https://apptainer.org)"
SECONDS_TO_BUILD = 600.0
SECONDS_TO_ANSWER = 30.0


class Program:
    """Calls of the program.

    Parameters
    ----------
    start
        How to call it; found on PATH if not given.

    Raises
    ------
    HostError
        If it is not installed.
    """

    def __init__(self, start: Sequence[str] = ()) -> None:
        found = next(filter(None, map(shutil.which, NAMES)), "")
        if not start and not found:
            raise HostError(MISSING)
        self.argv = [*(start or [found]), "-q"]

    def call(self, *arguments: str, timeout: float = SECONDS_TO_ANSWER) -> str:
        """What it prints.

        Raises
        ------
        HostError
            With what it said, if it fails.
        """
        done = run_process([*self.argv, *arguments], timeout=timeout, env=for_children(os.environ))
        if done.exit_code:
            raise HostError(_said(done.err) or f"{arguments[0]} failed ({done.exit_code})")
        return done.out.decode("utf-8", "replace")

    def instances(self) -> dict[str, int]:
        """The process numbers of this user's instances, by name."""
        found: dict[str, Any] = json.loads(self.call("instance", "list", "--json") or "{}")
        return {one["instance"]: int(one["pid"]) for one in found.get("instances") or ()}

    def image(self, name: str, images: Path) -> str:
        """A file or folder to start: ``name`` itself, or what is built of it once.

        Raises
        ------
        HostError
            If there is none, and none can be built.
        """
        if Path(name).exists():
            return str(Path(name).absolute())
        if ":" not in name:
            raise HostError(f"there is no image {name!r}; set TERMINAL_SINGULARITY_IMAGE")
        built = images / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.sif"
        if built.is_file():
            return str(built)
        images.mkdir(parents=True, exist_ok=True)
        unfinished = images / f".{os.getpid()}-{built.name}"
        try:
            self.call("build", "--force", str(unfinished), name, timeout=SECONDS_TO_BUILD)
            unfinished.replace(built)
        except HostError as error:
            raise HostError(
                f"the image {name!r} cannot be built: {error}; check TERMINAL_SINGULARITY_IMAGE"
            ) from error
        finally:
            unfinished.unlink(missing_ok=True)
        return str(built)


def variables(env: Mapping[str, str]) -> dict[str, str]:
    """How it is told what variables a process gets inside, whatever their values hold."""
    return {f"APPTAINERENV_{name}": value for name, value in env.items()} | {
        f"SINGULARITYENV_{name}": value for name, value in env.items()
    }


def _said(err: bytes) -> str:
    """The line that tells the reason: the last but those that only pass it on."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    told = [line for line in lines if "FATAL" in line and "while executing starter" not in line]
    return ((told or lines)[-1] if lines else "").partition("FATAL:")[2].strip() or " ".join(lines)
