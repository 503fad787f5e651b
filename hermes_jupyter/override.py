"""``%load_ext hermes_jupyter.override``: load, and take over names that another extension has."""

from __future__ import annotations

from typing import Any

from hermes_jupyter import loading


def load_ipython_extension(shell: Any) -> None:
    loading.load(shell, override=True)


def unload_ipython_extension(shell: Any) -> None:
    loading.unload(shell)
