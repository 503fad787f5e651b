"""Kernels that start quickly: forked from a process that has imported what a turn needs.

For a Jupyter server: `installed` has it find what starts them. That a kernel starts in the usual
way is seen in the tests of shared notebooks and of other pages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

NAME = "warm"
ZYGOTE = Path(__file__).resolve().parents[1] / "kernel" / "zygote.py"


def installed(folder: Path) -> dict[str, str]:
    """Make it known to servers with these environment variables."""
    about = folder / "warm_kernels-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: warm-kernels\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        f"[jupyter_client.kernel_provisioners]\n{NAME} = warm_kernels:Warm\n"
    )
    (folder / "warm_kernels.py").symlink_to(Path(__file__).resolve())
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {"JUPYTER_DEFAULT_PROVISIONER_NAME": NAME, "PYTHONPATH": path}


class Forked:
    """What is used of ``subprocess.Popen``; whoever has forked it buries it."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, 0)
            return None
        return 0

    def wait(self) -> int:
        return 0

    def send_signal(self, signum: int) -> None:
        os.kill(self.pid, signum)


class Warm(LocalProvisioner):
    """Starts kernels of this environment."""

    _zygote: subprocess.Popen[str] | None = None

    async def launch_kernel(self, cmd: list[str], **about: Any) -> dict[str, Any]:
        told = {"connection_file": cmd[-1], "cwd": about["cwd"], "env": about["env"]}
        self.pid = self.pgid = _forked(told)
        self.process = Forked(self.pid)
        return self.connection_info


def _forked(told: dict[str, Any]) -> int:
    if Warm._zygote is None:
        Warm._zygote = subprocess.Popen(
            [sys.executable, str(ZYGOTE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    assert Warm._zygote.stdin
    assert Warm._zygote.stdout
    Warm._zygote.stdin.write(json.dumps(told) + "\n")
    Warm._zygote.stdin.flush()
    return int(Warm._zygote.stdout.readline())
