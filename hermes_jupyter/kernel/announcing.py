"""Says in the kernel's info that it answers our requests.

A page or a server that was not there when the extension was loaded finds it so, and need not send
our requests to kernels that know nothing of them: these would complain in their logs. Every client
asks for the info, and every kernel may be asked, on its control channel, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

INFO_REQUEST, INFO_REPLY = "kernel_info_request", "kernel_info_reply"
FEATURES = "supported_features"
FEATURE = "hermes agents"


class Announced:
    """Has the kernel's info list our feature, on all channels, until it is closed."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._tables = (kernel.shell_handlers, kernel.control_handlers)
        self._before = [table[INFO_REQUEST] for table in self._tables]
        self._answering = self._answer  # each look at a method makes a new one
        for table in self._tables:
            table[INFO_REQUEST] = self._answering

    def close(self) -> None:
        """Let the kernel answer as before."""
        for table, before in zip(self._tables, self._before, strict=True):
            if table[INFO_REQUEST] is self._answering:
                table[INFO_REQUEST] = before

    def _answer(self, stream: Any, ident: Any, message: Mapping[str, Any]) -> None:
        kernel = self._kernel
        told: Mapping[str, Any] = kernel.kernel_info
        features = [*told.get(FEATURES, ()), FEATURE]  # ipykernel 6 lists none
        content = {"status": "ok", **told, FEATURES: features}
        kernel.session.send(stream, INFO_REPLY, content, parent=message, ident=ident)
