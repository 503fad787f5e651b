"""A real kernel to measure in, of each version that KERNELS names; else the installed one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hermes_jupyter.testing.scripted_server import ScriptedServer
from tests import kernels
from tests.kernel import front


def versions() -> list[str]:
    return os.environ.get("KERNELS", version("ipykernel")).split()


@contextmanager
def started(number: str, *replies: Any) -> Iterator[tuple[front.Front, Path]]:
    """A front end of a kernel that has the extension and a scripted model, and its folder.

    Raises
    ------
    FileNotFoundError
        If this version of ipykernel was not fetched.
    """
    before = kernels.folder(number)
    with tempfile.TemporaryDirectory() as home, ScriptedServer(*replies) as server:
        folder = Path(home) / "work"
        folder.mkdir()
        env = {
            "HERMES_HOME": f"{home}/hermes",
            "IPYTHONDIR": f"{home}/ipython",
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "",
        }
        log = Path(home) / "kernel.log"
        with front.kernel(path=before, env=env, cwd=folder, log=log) as opened:
            opened.run("%load_ext hermes_jupyter")
            yield opened, folder
