"""The page that lists what waits and answers it: for a phone, or a second browser."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from jupyter_server.base.handlers import JupyterHandler
from tornado.web import HTTPError

from hermes_jupyter.server.routes.base import RESOURCE, allowed

FOLDER = Path(__file__).resolve().parents[1] / "page"
KINDS: Mapping[str, str] = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
        "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'",
    )
)  # fmt: skip
"""Nothing but the page's own files runs, whatever a request for approval says."""


class Page(JupyterHandler):
    """``/hermes/``."""

    auth_resource = RESOURCE

    def initialize(self, extension: object) -> None:
        """It shares nothing."""

    @property
    def content_security_policy(self) -> str:
        return POLICY

    @allowed("read")
    async def get(self) -> None:
        if not self.request.path.endswith("/"):  # what the page loads is named from here
            self.redirect(f"{self.base_url}hermes/")
            return
        text = (FOLDER / "index.html").read_text(encoding="utf-8")
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish(text.replace("{{xsrf}}", escape(self.xsrf_token.decode("ascii"), quote=True)))


class Part(JupyterHandler):
    """``/hermes/page/NAME``: its script and its style."""

    auth_resource = RESOURCE

    def initialize(self, extension: object) -> None:
        """It shares nothing."""

    @property
    def content_security_policy(self) -> str:
        return POLICY

    @allowed("read")
    async def get(self, name: str) -> None:
        path = FOLDER / name
        if not path.is_file():
            raise HTTPError(404)
        self.set_header("Content-Type", KINDS[path.suffix[1:]])
        self.finish(path.read_bytes())
