"""The ipykernel versions that the kernel tests run on: ``python tests/kernels.py fetch 6.29.5 ...``

Each wheel is unpacked beside the one environment and put in front of it with PYTHONPATH, so
that all versions share the other packages. The installed version needs no wheel.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "ipykernels"


def folder(number: str) -> Path | None:
    """What to put in front of the path for this version; None for the installed one.

    Raises
    ------
    FileNotFoundError
        If the wheel was not fetched.
    """
    if number == version("ipykernel"):
        return None
    there = CACHE / number
    if not there.is_dir():
        remedy = f"python tests/kernels.py fetch {number}"
        raise FileNotFoundError(f"no ipykernel {number}; run: {remedy}")
    return there


def fetch(number: str) -> None:
    """Download and unpack one version, unless that is done."""
    if number == version("ipykernel") or (CACHE / number).is_dir():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--dest", scratch, f"ipykernel=={number}"]
        subprocess.run(command, check=True, timeout=300)
        wheel = next(Path(scratch).glob("*.whl"))
        unpacked = Path(scratch) / "unpacked"
        zipfile.ZipFile(wheel).extractall(unpacked)
        unpacked.rename(CACHE / number)


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        fetch(wanted)
