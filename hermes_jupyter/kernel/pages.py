"""The pages that show this kernel's notebooks, and questions to them about cells.

A page opens a comm (see docs/cell-protocol.md). Requests go to it as messages with an ``id``, and
it answers with the same ``id``; also while a cell runs, for the gate lets these answers overtake.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

logger = logging.getLogger(__name__)

TARGET = "hermes.cells"
PROTOCOL = 1
SECONDS_TO_ANSWER = 10.0
SECONDS_IF_BLOCKED = 120.0
"""For a turn in the background: while another cell runs, the kernel cannot read the answer."""
SECONDS_IF_ANOTHER = 2.0
"""For a page that may have been reloaded: its window shows the same notebook anew."""
GONE = "the notebook's page was closed"


class PageError(ConnectionError):
    """A page refuses, cannot, is gone or does not answer. One line."""


class Unanswered(PageError, TimeoutError):
    """A page did not answer; what it was asked for may be done."""


class Page:
    """One notebook, open in one front end."""

    def __init__(
        self,
        comm: Any,
        client: str,
        about: Mapping[str, Any],
        is_blocked: Callable[[], bool] = lambda: False,
    ) -> None:
        self._comm = comm
        self._is_blocked = is_blocked
        self.client = client
        """The front end's session id, as requests to run cells have it."""
        self.notebook = ""
        self.window = str(about.get("window") or "")
        """The same for a page that is reloaded; empty if it does not say."""
        can = about.get("can")
        self.can = frozenset(map(str, can)) if isinstance(can, list) else frozenset[str]()
        self.settings: Mapping[str, Any] = {}
        """What its person has set for turns, as it came."""
        self.is_open = True
        self._numbers = itertools.count(1)
        self._answers = threading.Condition()  # guards the two
        self._waiting: set[str] = set()
        self._came: dict[str, Mapping[str, Any]] = {}
        self._learn(about)
        comm.on_msg(self._hear)
        comm.on_close(lambda _message: self._close())

    @property
    def id(self) -> str:
        """Of the comm."""
        return str(self._comm.comm_id)

    def ask(
        self,
        do: str,
        /,
        *,
        seconds: float = SECONDS_TO_ANSWER,
        patience: float = 0.0,
        **what: Any,
    ) -> Mapping[str, Any]:
        """Send a request and wait for what it brings. Not in the thread that runs the cell.

        Parameters
        ----------
        seconds
            How long the page may take.
        patience
            Seconds to wait in all while a cell keeps the kernel from reading the answer.

        Raises
        ------
        PageError
        """
        if do not in self.can:
            raise PageError(f"the notebook's page cannot {do} cells")
        number = f"{next(self._numbers)}"
        with self._answers:
            self._waiting.add(number)
        try:
            self._comm.send({"id": number, "do": do, **what})
            return _result(self._wait(number, seconds, patience))
        finally:
            with self._answers:
                self._waiting.discard(number)
                self._came.pop(number, None)

    def _wait(self, number: str, seconds: float, patience: float) -> Mapping[str, Any]:
        last = time.monotonic() + max(seconds, patience)
        end = time.monotonic() + seconds
        with self._answers:
            while number not in self._came:
                now = time.monotonic()
                if self._is_blocked():
                    end = min(now + seconds, last)
                if not self.is_open:
                    raise Unanswered(f"{GONE}; nothing is known of what it did last")
                if now > end:
                    raise Unanswered(f"the notebook's page did not answer within {seconds:g} s")
                self._answers.wait(0.1)
            return self._came[number]

    def _hear(self, message: Mapping[str, Any]) -> None:
        data = message.get("content", {}).get("data")
        data = data if isinstance(data, Mapping) else {}
        number = data.get("id")
        if number is None and self._learn(data):
            return
        with self._answers:
            if number not in self._waiting:  # late, or not an answer at all
                logger.info("a page said something that nobody waits for")
                return
            self._came[str(number)] = data
            self._answers.notify_all()

    def _learn(self, about: Mapping[str, Any]) -> bool:
        """Hear what the page says of itself; False if it says nothing."""
        notebook, settings = about.get("notebook"), about.get("settings")
        if isinstance(notebook, str):
            self.notebook = notebook
        if isinstance(settings, Mapping):
            self.settings = settings
        return isinstance(notebook, str) or isinstance(settings, Mapping)

    def _close(self) -> None:
        with self._answers:
            self.is_open = False
            self._answers.notify_all()


def _result(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if answer.get("ok") is True:
        result = answer.get("result")
        return result if isinstance(result, Mapping) else {}
    said = " ".join(str(answer.get("message") or "it did not say why").split())[:300]
    raise PageError(f"the notebook's page refused: {said}")


class Pages:
    """All pages of a kernel. Comms come and go in the thread of its shell.

    Parameters
    ----------
    is_blocked
        Does a cell run that keeps the kernel from hearing what pages say?
    """

    def __init__(self, kernel: Any, is_blocked: Callable[[], bool] = lambda: False) -> None:
        self._manager = kernel.comm_manager
        self._is_blocked = is_blocked
        self._pages: dict[str, Page] = {}
        self.names: dict[str, str] = {}
        """What a person knows cells by, by their ids, as they were when they were read last."""
        self._manager.register_target(TARGET, self._opened)

    def of(self, client: str) -> Page | None:
        """The page of this front end that was opened last."""
        return self._newest(lambda page: page.client == client)

    def showing(self, notebook: str) -> Page | None:
        """The page that shows this notebook and was opened last."""
        return self._newest(lambda page: bool(notebook) and page.notebook == notebook)

    def after(self, page: Page) -> Page | None:
        """The page that has taken over from this one: a newer one that shows its notebook.

        One in the same window is it rather than others: a reloaded page is another client.
        """
        there = self.open_ones()
        later = there[there.index(page) + 1 :] if page in there else there
        same = [each for each in later if each.notebook and each.notebook == page.notebook]
        reloaded = [each for each in same if each.window and each.window == page.window]
        return next(reversed([*same, *reloaded]), None)

    def open_ones(self) -> list[Page]:
        """In the order in which they were opened."""
        return [page for page in [*self._pages.values()] if page.is_open]

    def _newest(self, fits: Callable[[Page], bool]) -> Page | None:
        there = [page for page in self.open_ones() if fits(page)]
        return there[-1] if there else None

    def close(self) -> None:
        self._manager.unregister_target(TARGET, self._opened)
        self._pages.clear()

    def _opened(self, comm: Any, message: Mapping[str, Any]) -> None:
        about = message.get("content", {}).get("data")
        about = about if isinstance(about, Mapping) else {}
        if about.get("protocol") != PROTOCOL:
            comm.send({"error": f"this kernel speaks version {PROTOCOL} of {TARGET}"})
            comm.close()
            return
        client = str(message.get("header", {}).get("session") or "")
        self._pages = {key: page for key, page in self._pages.items() if page.is_open}
        self._pages[comm.comm_id] = Page(comm, client, about, self._is_blocked)
        comm.send({"ready": True, "protocol": PROTOCOL})


class NotebookPage:
    """Asks the page of one notebook; if that is gone, the one that shows it now.

    A page that was reloaded need not have said so. One that does not even let its cells be read,
    while a newer one shows the same notebook, is taken for gone: soon, if that is in the same
    window. One in another window may hold a copy of its own, and the page may just be slow.

    Parameters
    ----------
    is_patient
        Does the turn wait for other cells? One in the background does.
    """

    def __init__(
        self, pages: Pages, page: Page, is_patient: Callable[[], bool] = lambda: False
    ) -> None:
        self._pages, self._page, self._is_patient = pages, page, is_patient

    @property
    def notebook(self) -> str:
        """The path of the notebook."""
        return self._page.notebook

    @property
    def can(self) -> frozenset[str]:
        """What it may be asked."""
        return self._page.can

    def __call__(self, do: str, /, **what: Any) -> Mapping[str, Any]:
        """Send a request and wait for what it brings. Raises a `PageError`."""
        page, other = self._page, self._pages.after(self._page)
        if not page.is_open:
            if other is None:
                raise PageError(GONE)
            page = self._page = other
            other = self._pages.after(page)
        if do == "read" and other is not None:
            windows = {page.window, other.window}
            seconds = SECONDS_TO_ANSWER if len(windows - {""}) > 1 else SECONDS_IF_ANOTHER
            try:
                return page.ask(do, seconds=seconds, **what)
            except Unanswered:  # the reloaded page may have come only now
                page = self._page = self._pages.after(page) or other
        patience = SECONDS_IF_BLOCKED if self._is_patient() else 0.0
        return page.ask(do, patience=patience, **what)
