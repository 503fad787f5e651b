"""Stored conversations: listed, searched, read, exported. Nothing here changes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from tornado.web import HTTPError

from hermes_jupyter.errors import StoreError
from hermes_jupyter.server.routes.base import Route, allowed

T = TypeVar("T")
LISTED, MOST_LISTED = 50, 200
WINDOW, MOST_WINDOW = 20, 100
MAX_QUERY_CHARS = 500
KINDS: Mapping[str, str] = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
}


class Listing(Route):
    """``GET api/sessions?q=WORDS&limit=50&offset=0``; ``in=messages`` searches what was said."""

    @allowed("read")
    async def get(self) -> None:
        sought = self.get_query_argument("q", "")
        if len(sought) > MAX_QUERY_CHARS:
            raise HTTPError(400, f"at most {MAX_QUERY_CHARS} characters can be searched for")
        limit, offset = self.number("limit", LISTED, MOST_LISTED), self.number("offset", 0)
        reader = self.extension.reader
        if self.get_query_argument("in", "") == "messages" and sought.strip():
            self.send(await _read(self, lambda: reader.search(sought, limit)))
        else:
            self.send(await _read(self, lambda: reader.listing(sought, limit, offset)))


class Reading(Route):
    """``GET api/sessions/ID``: its beginning and end; ``?at=MESSAGE&window=20`` what is there."""

    @allowed("read")
    async def get(self, identity: str) -> None:
        at, window = self.number("at", 0, 10**8), self.number("window", WINDOW, MOST_WINDOW)
        reader = self.extension.reader
        self.send(await _read(self, lambda: reader.read(identity, at, window)))


class Exporting(Route):
    """``GET api/sessions/ID/export/FORMAT``: a file with all of it."""

    @allowed("read")
    async def get(self, identity: str, form: str) -> None:
        reader = self.extension.reader
        exported = await _read(self, lambda: reader.export(identity, form))
        self.set_header("Cache-Control", "no-store")
        self.set_attachment_header(exported.name)
        self.finish(exported.text, set_content_type=KINDS[form])


async def _read(route: Route, job: Callable[[], T]) -> T:
    try:
        return await route.in_thread(job)
    except LookupError as missing:
        raise HTTPError(404, str(missing.args[0])) from None
    except StoreError as problem:
        raise HTTPError(503, str(problem)) from None
