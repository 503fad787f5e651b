"""Install Debian's bubblewrap where that is possible: ``python tests/bubblewrap.py install``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

MISSING = "no bubblewrap; install it (Debian: apt-get install bubblewrap)"
COMMANDS = (
    ["apt-get", "update", "-qq"],
    ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "bubblewrap"],
)


def install() -> None:
    """Install it as root on Debian; elsewhere say that its tests will be skipped."""
    if shutil.which("bwrap"):
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        print(f"The tests of bubblewrap will be skipped: {MISSING}.")
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in COMMANDS:
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, timeout=300).returncode:
            print(f"The tests of bubblewrap will be skipped: {' '.join(command)} failed.")
            return


if __name__ == "__main__" and sys.argv[1:] == ["install"]:
    install()
