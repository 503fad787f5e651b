"""Find Chromium, and install Debian's where that is possible: ``python chromium.py install``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MISSING = "no Chromium; install it (Debian: apt-get install chromium)"


def path() -> str | None:
    """Where Chromium is; the environment variable CHROMIUM overrides the search."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def install() -> None:
    """Install it as root on Debian; elsewhere say that the browser tests will be skipped."""
    if path():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        print(f"The browser tests will be skipped: {MISSING}.")
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium",
         "fonts-dejavu-core", "fonts-noto-color-emoji"],
    ):  # fmt: skip
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, timeout=900).returncode:
            print(f"The browser tests will be skipped: {' '.join(command)} failed.")
            return


if __name__ == "__main__" and sys.argv[1:] == ["install"]:
    install()
