"""Whose the background jobs of this kernel are, and whether they outlive this process."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hermes_jupyter.kernel.shell import current_kernel
from tools.environments.job_table import JobOwner, this_process


def job_owner() -> JobOwner:
    """This kernel, by its connection file: it keeps that when it is started again.

    Outside of a kernel it is this process, and jobs end with it.
    """
    kernel = current_kernel()
    connection_file = _connection_file(kernel)
    if connection_file is None:
        return this_process()
    name = hashlib.sha256(str(connection_file).encode("utf-8", "replace")).hexdigest()[:16]
    return JobOwner(
        key=f"kernel-{name}",
        connection_file=str(connection_file),
        survives=lambda: is_restarting(kernel),
    )


def is_restarting(kernel: Any) -> bool:
    """Was this kernel asked to end because another process will take its place?

    ipykernel keeps the answer it gives to the request until the process has ended.
    """
    answer = getattr(kernel, "_shutdown_message", None) or {}
    return bool(answer.get("content", {}).get("restart"))


def _connection_file(kernel: Any) -> Path | None:
    app = getattr(kernel, "parent", None)
    path = getattr(app, "abs_connection_file", "") or getattr(app, "connection_file", "")
    if not path:
        return None
    found = Path(path).absolute()
    return found if found.is_file() else None
