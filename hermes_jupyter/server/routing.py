"""Which routes there are, below ``<base_url>/hermes``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_jupyter.server.routes import approvals, conversations, health, models, page, watching

if TYPE_CHECKING:
    from hermes_jupyter.server.extension import Extension

ID = r"([0-9A-Za-z_-]{1,80})"
ROUTES: Mapping[str, type[Any]] = {
    r"/?": page.Page,
    r"/page/([a-z]+\.(?:css|js|svg))": page.Part,
    r"/api/health": health.Health,
    r"/api/usage": health.Used,
    r"/api/pending": approvals.Pending,
    r"/api/events": watching.Events,
    rf"/api/kernels/{ID}/status": approvals.Status,
    rf"/api/kernels/{ID}/(answer|reply|say|stop)": approvals.Doing,
    r"/api/sessions": conversations.Listing,
    rf"/api/sessions/{ID}": conversations.Reading,
    rf"/api/sessions/{ID}/export/([a-z]{{2,5}})": conversations.Exporting,
}
"""For people, and whoever has their login."""
FOR_KERNELS: Mapping[str, type[Any]] = {
    r"/knock": models.Knock,
    r"/v1/models": models.Models,
    r"/v1/(chat/completions|responses)": models.Ask,
}


def routes(base: str, extension: Extension) -> list[tuple[str, type[Any], Mapping[str, Any]]]:
    """Handlers as tornado takes them."""
    about = {"extension": extension}
    return [
        (f"{base}{path}", handler, about) for path, handler in {**ROUTES, **FOR_KERNELS}.items()
    ]
