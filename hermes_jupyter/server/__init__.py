"""The extension of jupyter-server: what waits in all kernels, stored conversations, models.

Importing it costs next to nothing; what it needs is imported when the server loads it, or at the
first request.
"""

from __future__ import annotations

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "hermes_jupyter.server"}]


def _load_jupyter_server_extension(serverapp: Any) -> None:
    from hermes_jupyter.server.extension import load

    load(serverapp)
