"""Other distributions that install a package `tools`, too, into the folder of ours.

pip writes both into one folder and says nothing: the later one replaces files of the earlier, and
removing one breaks the other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

OURS = Path(__file__).resolve().parent.parent / "tools"
NAME = "hermes-jupyter"
MARK = "registers itself; see ``registry``"
"""Part of the docstring of our `tools`."""
REMEDY = (
    "Give Hermes an environment of its own (python -m venv), or remove the other distribution and "
    f"then: pip install --force-reinstall --no-deps {NAME}"
)


def require_own_tools() -> None:
    """See that `tools` is ours, before anything of it is imported.

    Raises
    ------
    ImportError
        It is not; with what hides or has overwritten it, and what to do.
    """
    found = _found()
    if found is None:
        raise ImportError(f"the package `tools` of {NAME} is missing: install {NAME} again")
    if found.parent.resolve() != OURS:
        raise ImportError(
            f"`import tools` finds {found}, which hides the package `tools` of Hermes for Jupyter "
            f"({OURS}). Rename it or start the kernel in another folder. If another distribution "
            f"has installed it: {REMEDY}"
        )
    if MARK not in found.read_text(encoding="utf-8", errors="replace")[:400]:
        raise ImportError(
            f"{_told(others())} has overwritten the package `tools` of {NAME}. {REMEDY}"
        )


def warning() -> str:
    """What to tell if another distribution has files in our `tools`; else an empty text. Quick."""
    record = next(OURS.parent.glob("hermes_jupyter-*.dist-info/RECORD"), None)
    if record is None:  # an editable installation: nothing else is in its folder
        return ""
    lines = record.read_text(encoding="utf-8").splitlines()
    named = {line.split("/")[1].split(",")[0] for line in lines if line.startswith("tools/")}
    if {path.name for path in OURS.iterdir()} <= named | {"__pycache__"}:
        return ""
    return (
        f"hermes_jupyter: {_told(others())} has files in the folder {OURS} as well, and one of the "
        f"two is broken or will be when the other is removed. {REMEDY}"
    )


def others() -> list[str]:
    """The other distributions that say they have a package `tools`. Reads what each one lists."""
    return sorted({name for name in _with_tools() if name.lower().replace("_", "-") != NAME})


def _with_tools() -> Iterator[str]:
    from importlib.metadata import distributions  # not at load: it costs more than all the rest

    for distribution in distributions():
        listed = distribution.read_text("RECORD") or ""
        if any(line.startswith(("tools/", "tools.py,")) for line in listed.splitlines()):
            yield str(distribution.metadata["Name"])


def _told(names: list[str]) -> str:
    return f"The distribution {' and '.join(names)}" if names else "Something else"


def _found() -> Path | None:
    """The file that stands for `tools`, or the folder if it has none."""
    if (there := sys.modules.get("tools")) is not None and there.__file__:
        return Path(there.__file__)
    spec = find_spec("tools")
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin)
    return Path(next(iter(spec.submodule_search_locations or [""]))) / "__init__.py"
