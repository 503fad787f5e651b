"""The side panel in which is answered what agents ask."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect


class Panel:
    """The side panel of a page; it is opened."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.evaluate("() => window.jupyterapp.commands.execute('hermes:show-approvals')")
        self.root = page.locator("#hermes-approvals")
        expect(self.root).to_be_visible()

    @property
    def card(self) -> Any:
        return self.root.get_by_role("alertdialog")

    @property
    def waiting(self) -> Any:
        """The cards that are not answered yet."""
        return self.root.locator(".hermes-Card:not(.hermes-mod-answered)")

    def click(self, label: str) -> None:
        self.card.get_by_role("button", name=label, exact=True).click()
