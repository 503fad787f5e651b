"""The look of a running turn. Colours are the front end's own, so that its themes apply."""

from pathlib import Path

CSS = Path(__file__).with_name("turn.css").read_text(encoding="utf-8")
"""The extension of JupyterLab takes the same file for the record, so that both look alike."""
