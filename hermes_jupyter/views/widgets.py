"""Core ipywidgets for a turn: made, remembered, and closed together.

The one module that touches ipywidgets; it is imported by the first turn that shows widgets.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from typing import Any

from hermes_jupyter.views.base import CellOutput

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


def view_of(widget: Any) -> dict[str, Any]:
    """The bundle that shows a widget. Consoles would print a plain text, so there is none."""
    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    return {WIDGET_MIME: view}


class Stage:
    """All widgets of one turn.

    After construction one thread makes and changes them. Layouts and styles are shared, which
    saves two thirds of the messages.
    """

    def __init__(self, cell: CellOutput) -> None:
        self._cell = cell
        self._made: list[Any] = []
        self._styles: dict[str, Any] = {}
        self._layout = self._make("Layout")
        self.closed = False

    def html(self, value: str = "", *classes: str) -> Any:
        return self._make("HTML", value=value, layout=self._layout, _dom_classes=classes)

    def column(self, children: Iterable[Any] = (), *classes: str) -> Any:
        return self._make(
            "VBox", children=tuple(children), layout=self._layout, _dom_classes=classes
        )

    def row(self, children: Iterable[Any] = (), *classes: str) -> Any:
        return self._make(
            "HBox", children=tuple(children), layout=self._layout, _dom_classes=classes
        )

    def button(self, label: str, tooltip: str, pressed: Callable[[], Any], *classes: str) -> Any:
        """A button. ``pressed`` runs in whatever thread the click arrives in."""
        button = self._make(
            "Button",
            description=label,
            tooltip=tooltip,
            layout=self._layout,
            _dom_classes=("hermes-button", *classes),
        )
        button.on_click(lambda _button: pressed())
        return button

    def field(self, placeholder: str, name: str, *classes: str) -> Any:
        """A line of text, which is sent when it is complete. Its name is read aloud, not seen."""
        return self._make(
            "Text",
            placeholder=placeholder,
            description=name,
            continuous_update=False,
            layout=self._layout,
            _dom_classes=classes,
        )

    def password(self, placeholder: str, *classes: str) -> Any:
        """A line of text that is shown as dots."""
        return self._make(
            "Password",
            placeholder=placeholder,
            description=placeholder,
            continuous_update=False,
            layout=self._layout,
            _dom_classes=classes,
        )

    def text_area(self, value: str, rows: int, name: str, *classes: str) -> Any:
        """Lines of text, which are sent when the field is left. Enter makes a new line."""
        return self._make(
            "Textarea",
            value=value,
            rows=rows,
            description=name,
            continuous_update=False,
            layout=self._layout,
            _dom_classes=classes,
        )

    def hidden_player(self) -> Any:
        """A widget whose view answers by itself when it is on a page; see `probe`."""
        hidden = self._make("Layout", display="none")
        return self._make("Play", min=0, max=2**30, interval=2**30, layout=hidden)

    def discard(self, *widgets: Any) -> None:
        """Close widgets that nothing shows any more."""
        for widget in widgets:
            if widget in self._made:
                self._made.remove(widget)
                widget.close()

    def close(self, *spared: Any) -> None:
        """Close all but these, so that no widget state is left in a saved notebook."""
        self.closed = True
        kept = {*spared, *self._styles.values(), self._layout} if spared else set()
        made, self._made = self._made, []
        for widget in made:
            if widget not in kept:
                widget.close()

    def _make(self, kind: str, **traits: Any) -> Any:
        """A core widget, by its class name, whose messages are served while the cell runs.

        The cell knows its id before it opens, else an early message could wait behind the cell.
        """
        import ipywidgets  # 0.1 s, and loading the extension must not cost it

        model_id = uuid.uuid4().hex
        self._cell.own_comm(model_id)
        if kind in self._styles:
            traits["style"] = self._styles[kind]
        widget = getattr(ipywidgets, kind)(model_id=model_id, **traits)
        self._made.append(widget)
        if kind not in self._styles and widget.has_trait("style"):
            self._styles[kind] = widget.style
            self._made.append(widget.style)
            self._cell.own_comm(widget.style.model_id)
        return widget
