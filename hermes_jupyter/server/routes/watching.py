"""What happens in all kernels, as it happens, by websocket."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from hermes_jupyter.server.line import Content

if TYPE_CHECKING:
    from hermes_jupyter.server.extension import Extension

MAX_MESSAGE_BYTES = 1024
UNASKED = 1003
"""The close code for what a client has no business to send."""


class Events(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """``api/events``: first what waits, then each event of each kernel, with its id.

    It only tells. Answers go over HTTP, where they are checked as every request is.
    """

    auth_resource = "kernels"

    def initialize(self, extension: Extension) -> None:
        self.extension = extension
        self._watching = ExitStack()

    @property
    def max_message_size(self) -> int:
        return MAX_MESSAGE_BYTES

    def set_default_headers(self) -> None:
        """Those of pages make no sense here."""

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        is_allowed = self.authorizer.is_authorized(self, self.current_user, "read", "kernels")
        if not await ensure_async(is_allowed):
            raise HTTPError(403)
        await super().get(*args, **kwargs)

    async def open(self, *args: Any, **kwargs: Any) -> None:
        super().open(*args, **kwargs)
        self._watching.enter_context(self.extension.kernels.watched(self._tell))
        self._tell({"event": "pending", "kernels": await self.extension.kernels.pending()})

    def on_message(self, message: str | bytes) -> None:
        self.close(UNASKED, "this socket only tells")

    def on_close(self) -> None:
        self._watching.close()

    def _tell(self, event: Content) -> None:
        try:
            self.write_message(json.dumps(event, ensure_ascii=True))
        except WebSocketClosedError:
            self._watching.close()
