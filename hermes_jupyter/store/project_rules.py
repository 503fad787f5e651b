"""What a project tells agents in a file of its own, and who the user wants the agent to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.safety.instructions import order_in

FILES = (
    (".hermes.md", "HERMES.md"),
    ("AGENTS.md",),
    ("CLAUDE.md",),
    (".cursorrules", ".cursor/rules/*.mdc"),
)
"""The first of these kinds that is found counts, as in Hermes Agent; near ones before far ones."""
MAX_CHARS = 20_000
MAX_BYTES = 1 << 20
HEAD_SHARE = 0.7
SOUL = "SOUL.md"


@dataclass(frozen=True, slots=True)
class Text:
    """A text for the prompt."""

    text: str = ""
    sources: tuple[Path, ...] = ()
    left_out: str = ""
    """What was not taken, and why: for a person."""


def project_rules(folder: Path, top: Path, limit: int = MAX_CHARS) -> Text:
    """The rules for work in a folder.

    Parameters
    ----------
    folder
        Where the work is done.
    top
        The project's folder: nothing above it is looked at.
    limit
        Characters; of more the middle is left out.
    """
    folders = list(_upwards(folder, top))
    for names in FILES:
        for here in folders:
            found = [path for name in names for path in sorted(here.glob(name)) if path.is_file()]
            if found:
                # A name and its other spelling are one file on some systems.
                return _read(found if "*" in names[-1] else found[:1], limit)
    return Text()


def soul(home: Path, limit: int = MAX_CHARS) -> Text:
    """Who the agent is, if the user says so in ``SOUL.md``."""
    path = home / SOUL
    return _read([path], limit) if path.is_file() else Text()


def _upwards(folder: Path, top: Path) -> Iterator[Path]:
    folder = folder.resolve()
    top = top.resolve()
    if not folder.is_relative_to(top):
        top = folder
    yield folder
    for parent in folder.parents:
        if not parent.is_relative_to(top):
            return
        yield parent


def _read(paths: list[Path], limit: int) -> Text:
    texts, sources, left_out = [], [], []
    for path in paths:
        try:
            if path.stat().st_size > MAX_BYTES:
                left_out.append(f"{path} was left out: it has more than {MAX_BYTES:,} bytes")
                continue
            text = path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            left_out.append(f"{path} could not be read: {error.strerror}")
            continue
        if order := order_in(text):
            left_out.append(f"{path} was left out of the prompt, because it {order}")
        elif text:
            texts.append(text)
            sources.append(path)
    return Text(_cut("\n\n".join(texts), limit), tuple(sources), "; ".join(left_out))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = int(limit * HEAD_SHARE)
    tail = limit - head
    gap = f"[... {len(text) - limit:,} characters left out ...]"
    return f"{text[:head]}\n{gap}\n{text[len(text) - tail :]}"
