"""The secrets of a session's files: the model gets a placeholder, and may write it back."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading

from hermes_jupyter.redaction import replaced

TAG_CHARS = 8
_MENTION = re.compile(
    r"«secret:[^\s«»][^«»\n]{0,100}»?|\bsecret:[^\s«»:]{1,60}:(?P<tag>[0-9a-f]{8})"
)
"""A placeholder, or what is left of one that was not copied exactly."""


class UnknownPlaceholder(ValueError):
    """A text has a placeholder that stands for nothing here."""


class Secrets:
    """Placeholders such as ``«secret:sk-:1f3a9c2b»`` and what they stand for. In memory only.

    The same secret has the same placeholder for the whole session. The tag is made with a key
    that the session draws: it tells nothing about the secret, and cannot be guessed from it.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()  # guards the dict
        self._values: dict[str, str] = {}

    def mask(self, text: str) -> str:
        """The text with a placeholder for each secret; line for line the same."""
        return replaced(text, self._placeholders)

    def resolve(self, text: str, existing: str = "") -> str:
        """The text with the secrets that its placeholders stand for.

        Parameters
        ----------
        existing
            What the file holds now: what looks like a placeholder there is its own text.

        Raises
        ------
        UnknownPlaceholder
            For one that this session has not given out, or that was not copied exactly.
        """
        if "secret:" not in text:
            return text
        return _MENTION.sub(lambda mention: self._resolved(mention, existing), text)

    def has_placeholder(self, text: str) -> bool:
        """Is one of this session's in the text?"""
        return "secret:" in text and any(
            mention[0] in self._values for mention in _MENTION.finditer(text)
        )

    def _resolved(self, mention: re.Match[str], existing: str) -> str:
        written = mention[0]
        value = self._values.get(written)
        if value is not None:
            return value
        is_ours = mention["tag"] is None or any(
            placeholder.endswith(f":{mention['tag']}»") for placeholder in self._values
        )
        if not is_ours or written in existing:
            return written
        raise UnknownPlaceholder(
            f"{written!r} is no placeholder of this session, or was not copied exactly. Copy it "
            "as read_file shows it, from « to », or leave that line as it is with patch"
        )

    def _placeholders(self, kind: str, secret: str) -> str:
        """One for each line, so that line numbers stay."""
        if "\n" not in secret:
            return self._placeholder(kind, secret)
        lines = secret.split("\n")
        return "\n".join(
            line if "-----" in line or not line.strip() else self._indented(kind, line)
            for line in lines
        )

    def _indented(self, kind: str, line: str) -> str:
        text = line.strip()
        return line.replace(text, self._placeholder(kind, text), 1)

    def _placeholder(self, kind: str, secret: str) -> str:
        tag = hmac.new(self._key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
        digest = tag.hexdigest()
        with self._lock:
            for length in range(TAG_CHARS, len(digest) + 1, TAG_CHARS):
                placeholder = f"«secret:{kind}:{digest[:length]}»"
                if self._values.setdefault(placeholder, secret) == secret:
                    return placeholder
        raise AssertionError("two texts with one hash")
