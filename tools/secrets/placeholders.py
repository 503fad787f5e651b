"""The secrets of a session, as its tools see them: placeholders in answers, values in files.

``context["secrets"]`` is the session's keeper; without a session nothing is hidden here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Secrets(Protocol):
    """Knows what is a secret, and what its placeholders stand for."""

    def mask(self, text: str) -> str:
        """The text with a placeholder for each secret; line for line the same."""
        ...

    def resolve(self, text: str, existing: str = "") -> str:
        """The text with the secrets that its placeholders stand for.

        Raises
        ------
        ValueError
            For a placeholder that is unknown, unless ``existing`` has the same text.
        """
        ...

    def has_placeholder(self, text: str) -> bool:
        """Is one of this session's in the text?"""
        ...


class NoSecrets:
    """Where nobody keeps any."""

    def mask(self, text: str) -> str:
        return text

    def resolve(self, text: str, existing: str = "") -> str:
        return text

    def has_placeholder(self, text: str) -> bool:
        return False


NONE = NoSecrets()


def secrets_of(context: Mapping[str, Any]) -> Secrets:
    """The secrets of the session in which a call is made."""
    return context.get("secrets") or NONE


def masked(answer: Any, secrets: Secrets) -> Any:
    """An answer, all texts in it masked."""
    match answer:
        case str():
            return secrets.mask(answer)
        case list() | tuple():
            return [masked(item, secrets) for item in answer]
        case dict():
            return {name: masked(item, secrets) for name, item in answer.items()}
        case _:
            return answer


def refusal(text: str, secrets: Secrets) -> str:
    """Why a text cannot be run; "" if no placeholder is in it."""
    if not secrets.has_placeholder(text):
        return ""
    return (
        "The placeholder of a secret stands in it. Commands and programs do not get secrets this "
        "way: a command line is seen by other programs and kept in logs. Let the program read it "
        "from its file or from the environment; write_file and patch do put it into a file."
    )
