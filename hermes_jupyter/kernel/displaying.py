"""What tools of a turn in the background display goes below its own cell on ipykernel 6, too.

ipykernel 7 keeps the request that a display belongs to for each context; ipykernel 6 has one for
the whole shell: that of the cell that began last.
"""

from __future__ import annotations

import contextvars
from typing import Any

from hermes_jupyter.kernel.live.capture import patched

Message = dict[str, Any]

PARENT: contextvars.ContextVar[Message | None] = contextvars.ContextVar(
    "hermes_parent", default=None
)
"""The request below which this context displays, where that is not the cell that runs."""


class ByContext:
    """Stands in front of a shell's displays, from the first turn in the background on."""

    def __init__(self, shell: Any) -> None:
        self._kernel = shell.kernel
        self._publish = shell.display_pub.publish
        self._patch = patched(shell.display_pub, "publish", self)
        self._patch.__enter__()

    def __call__(self, data: Any, metadata: Any = None, *rest: Any, **more: Any) -> Any:
        parent = PARENT.get()
        if parent is None:
            return self._publish(data, metadata, *rest, **more)
        from ipykernel.jsonutil import encode_images, json_clean

        kernel = self._kernel
        kind = "update_display_data" if more.get("update") else "display_data"
        content = {
            "data": encode_images(data),
            "metadata": metadata or {},
            "transient": more.get("transient") or {},
        }
        kernel.session.send(
            kernel.iopub_socket,
            kind,
            json_clean(content),
            parent=parent,
            ident=kernel._topic(kind),
        )
        return None

    def close(self) -> None:
        self._patch.__exit__(None, None, None)


def needs_help(kernel: Any) -> bool:
    """Is this an ipykernel with one request for the whole shell?"""
    return kernel is not None and getattr(kernel, "shell_channel_thread", None) is None
