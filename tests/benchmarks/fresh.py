"""Fresh processes for what happens once in each: imports and loading."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BYTECODE = ROOT / ".cache" / "bytecode"


def samples(count: int, *command: str, **variables: str) -> list[dict[str, Any]]:
    """Run ``command`` so often; a first run, not counted, compiles and fills the page cache."""
    return [run(*command, **variables) for _ in range(count + 1)][1:]


def run(*command: str, **variables: str) -> dict[str, Any]:
    """Run ``command`` and read the JSON that its last line is.

    Raises
    ------
    RuntimeError
        If it fails.
    """
    # As after pip install, where the modules are compiled, whatever is set around us.
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    ran = subprocess.run(
        command, cwd=ROOT, env={**env, **variables}, capture_output=True, text=True, timeout=120
    )
    if ran.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed: {ran.stderr[-400:]}")
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found
