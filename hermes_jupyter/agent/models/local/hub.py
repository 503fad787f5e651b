"""Get a model's file from its publisher on the hub, if huggingface_hub is installed.

A hub that cannot be reached is no error: the next source is tried, after a few seconds at most. The
library keeps what it got of a broken download and goes on from there. Its own cache, its token, its
endpoint (HF_ENDPOINT) and its offline switch (HF_HUB_OFFLINE) apply as everywhere.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib.util
import logging
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hermes_jupyter.agent.models.local.assembly import Progress, require_space
from hermes_jupyter.agent.models.local.catalog import HubFile, KnownModel

LIBRARY = "huggingface_hub"
PATIENCE = 4.0  # seconds for the hub to show that it has the file, name resolution included
SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
log = logging.getLogger(__name__)


def allowed(model: KnownModel) -> bool:
    """Whether the hub may be asked. Imports and asks nothing."""
    offline = any(
        os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"} for name in SWITCHES
    )
    return model.hub is not None and not offline and importlib.util.find_spec(LIBRARY) is not None


def cached(model: KnownModel) -> Path | None:
    """Return the file if the library already has it; works offline."""
    if model.hub is None or importlib.util.find_spec(LIBRARY) is None:
        return None
    import huggingface_hub

    source = model.hub
    path = huggingface_hub.try_to_load_from_cache(
        source.repo, source.file, revision=source.revision
    )
    return Path(path) if isinstance(path, str) else None


def download(model: KnownModel, folder: Path, progress: Progress) -> Path | None:
    """Download the file below `folder`, or return None if it is not to be had."""
    if model.hub is None or not allowed(model):
        return None
    commit = offered_commit(model.hub, model.sha256)
    if commit is None:
        return None
    require_space(folder, model.size)
    return fetch(model.hub, commit, folder, lambda done: progress("downloading", done, model.size))


def offered_commit(source: HubFile, sha256: str) -> str | None:
    """Ask the hub for the commit that has the file, if it is there and holds the pinned bytes."""
    import huggingface_hub as library

    url = library.hf_hub_url(source.repo, source.file, revision=source.revision)
    try:
        found = within(PATIENCE, lambda: library.get_hf_file_metadata(url, timeout=PATIENCE))
    except failures() as error:
        log.info("The hub was not reached: %s", error)
        return None
    if len(found.etag or "") == len(sha256) and found.etag != sha256:
        log.warning("%s on the hub is no longer the file that is pinned here", source.file)
        return None
    return str(found.commit_hash or source.revision)


def fetch(source: HubFile, commit: str, folder: Path, told: Callable[[int], None]) -> Path | None:
    import huggingface_hub as library

    place = folder / f"{source.file}.download"
    try:
        with watched(place, told):
            path = library.hf_hub_download(
                source.repo, source.file, revision=commit, local_dir=place
            )
    except failures() as error:
        log.warning("The download of %s broke off: %s", source.file, error)
        return None
    return Path(path)


def within(seconds: float, function: Callable[[], Any]) -> Any:
    """Call a function that may hang, name resolution for one, and wait no longer than that."""
    answer: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def run() -> None:
        try:
            answer.set_result(function())
        except failures() as error:
            answer.set_exception(error)

    threading.Thread(target=run, name="hermes-hub-probe", daemon=True).start()
    return answer.result(seconds)


def failures() -> tuple[type[Exception], ...]:
    """Return what the library raises when the hub or the network fails.

    Its HTTP library has changed over time; the base of its own HTTP error covers whichever it is.
    """
    from huggingface_hub.errors import HfHubHTTPError

    bases = (base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception))
    return (OSError, RuntimeError, ValueError, concurrent.futures.TimeoutError, *bases)


@contextlib.contextmanager
def watched(place: Path, told: Callable[[int], None]) -> Iterator[None]:
    """Tell the size of the unfinished file every second."""
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(1.0):
            told(sum(path.stat().st_size for path in place.rglob("*.incomplete")))

    watcher = threading.Thread(target=watch, name="hermes-hub-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join(5.0)
