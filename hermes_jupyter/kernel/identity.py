"""What a server calls this kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_FILE = re.compile(r"kernel-([0-9A-Za-z_-]{1,80})\.json")


def id_of(kernel: Any) -> str:
    """The id by which the server that has started a kernel knows it; empty if that is not known.

    A server names the file with a kernel's ports by its id.
    """
    named = str(getattr(getattr(kernel, "parent", None), "connection_file", "") or "")
    found = _FILE.fullmatch(Path(named).name)
    return found[1] if found else ""
