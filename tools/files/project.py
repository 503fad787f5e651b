"""The folder that a person's work is in: what is inside is theirs to have changed."""

from __future__ import annotations

from pathlib import Path


def project_of(folder: str | Path) -> str:
    """The top of the git repository around ``folder``, or the folder itself.

    A repository that holds a whole home folder is no project.
    """
    here = Path(folder).resolve()
    home = Path.home().resolve()
    for candidate in (here, *here.parents):
        if candidate == home or candidate in home.parents:
            break
        if (candidate / ".git").exists():
            return str(candidate)
    return str(here)
