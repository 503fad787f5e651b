"""What is said to a model about its answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an answer may be wrong."""

    to_model: str
    to_person: str
    """A line for the record."""
    must_call: str = ""
    """The tool that must be called now, or "any"; empty if words may do."""
