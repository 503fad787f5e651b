"""The request that a kernel carries out now. Imports nothing, for it is loaded at once."""

from __future__ import annotations

from typing import Any


def request_of(kernel: Any) -> dict[str, Any]:
    """The request that runs; empty without a kernel, and in threads of which it knows none.

    These are those that a user has started on ipykernel 7.0.
    """
    try:
        return dict(kernel.get_parent("shell") or {}) if kernel is not None else {}
    except LookupError:
        return {}
