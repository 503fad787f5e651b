"""Masks secrets in text that people keep: saved outputs, logs, the session store.

It knows shapes, not values: keys by their vendor's prefix, authorization headers, private keys,
tokens (JWT), passwords in addresses, and assignments to names that say what they hold. A mask
cannot be mistaken for a key, so a masked file that is written back fails loudly. What has no
known shape is not found: this is a net, no wall.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# Where a word may begin: also behind the "\n" of a text that is quoted as code or JSON.
_BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtfvb]))"
_VENDOR = re.compile(
    _BEGINS
    + r"""(?P<prefix>
        sk-(?:ant-|proj-|or-v1-|svcacct-)? | sk_live_ | sk_test_ | rk_live_ | whsec_ | gsk_ | xai-
      | pplx- | tvly- | r8_ | hf_ | gh[pousr]_ | github_pat_ | glpat- | npm_ | pypi-AgE
      | dckr_pat_ | dop_v1_ | shpat_ | lsv2_[ps]t_ | xox[abeoprs]- | xapp- | SG\. | ya29\.
      | AIza | AKIA | ASIA )
    (?P<secret>[A-Za-z0-9_\-.]{12,})""",
    re.VERBOSE,
)
_JWT = re.compile(
    r"(?:(?<![\w-])|(?<=\\[nrtfvb]))eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_HEADER = re.compile(
    _BEGINS
    + r"(?P<before>(?i:authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:[a-z]{1,12}\s{1,3})?|"
    r"bearer\s{1,3}))(?P<secret>[A-Za-z0-9._~+/=-]{8,})"
)
_ADDRESS = re.compile(
    r"(?P<before>://[^\s/:@\"'<>«»]{0,100}:)(?P<secret>[^\s/@\"'<>«»]{1,200})(?=@)"
)
_ASSIGNMENT = re.compile(
    r"""(?P<name> (?i: api[_-]?key | access[_-]?key(?:[_-]id)? | (?:secret|private|auth|account
                     |signing|encryption|master|license)[_-]?key | token | secret
                     | credentials? | passw(?:or)?d | passphrase | \bpwd ) | _KEY | _PAT )
    (?P<between> \\?["']?[ \t]{0,3}(?:=>|:=|[:=])[ \t]{0,3} | [ \t]{1,3} )
    (?P<quote> \\?["']? )
    (?P<secret> (?<=["'])[^"'\n«»\\]{8,200}(?=\\?["']) | [^\s"'«»,;(){}\[\]<>\\`]{8,} )""",
    re.VERBOSE,
)
_PLACEHOLDER = re.compile(r"[$%*{<]|x{6,}|\.{3}|your[_-]", re.IGNORECASE)


_HINTS = (
    "key", "token", "secret", "passw", "passphrase", "pwd", "_pat", "credential",
    "authorization", "bearer", "://",
)  # fmt: skip
_LONG_WORD = re.compile(r"[-_.A][A-Za-z0-9_\-.]{9}")
"""In each key that a vendor's prefix or a JWT begins."""

PIECE = 1 << 14
"""A longer text is looked at piece by piece: the interpreter's lock is free between them."""
_REACH, _HEADER_REACH = 300, 60
"""Further behind a hint, or the name of a header, no rule looks for its secret."""
_SPACE = re.compile(r"\s")


def is_suspicious(text: str) -> bool:
    """Whether a secret of a known shape can be in the text at all. Cheap."""
    return _hints(text) or _LONG_WORD.search(text) is not None


def _hints(text: str) -> bool:
    lowered = text.lower()
    for hint in _HINTS:  # noqa: SIM110  any() would take twice as long
        if hint in lowered:
            return True
    return False


def redact(text: str) -> str:
    """The text with every secret of a known shape masked as ``«redacted:PREFIX…»``."""
    if len(text) > 2 * PIECE:
        if "PRIVATE KEY" in text:  # the only secret that may be longer than a piece
            text = _PRIVATE_KEY.sub(_mask("private key"), text)
        return "".join(map(_redact_piece, _pieces(text)))
    return _redact_piece(text)


def _redact_piece(text: str) -> str:
    if not is_suspicious(text):
        return text
    for triggers, pattern, masked in _RULES:
        lowered = text.lower()
        if any(trigger in lowered for trigger in triggers):  # looking for words is cheap
            text = pattern.sub(masked, text)
    return text


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces, between which no secret stands."""
    start, look = 0, PIECE
    while look < len(text) and (space := _SPACE.search(text, look)):
        end = space.end()
        if _is_border(text[max(start, end - _REACH) : end]):
            yield text[start:end]
            start, look = end, end + PIECE
        else:
            look = end + 1
    yield text[start:]


def _is_border(before: str) -> bool:
    """Whether no secret goes on behind this space: only those of headers do so behind a line."""
    if before[-1] == "\n":
        nearby = before[-_HEADER_REACH:].lower()
        return "authorization" not in nearby and "bearer" not in nearby
    return not _hints(before)


def _mask(prefix: str) -> str:
    return f"«redacted:{prefix}…»"


def _masked_key(found: re.Match[str]) -> str:
    if not any(character.isdigit() for character in found["secret"]):
        return found[0]  # "sk-learn-contributors" is a name
    return _mask(found["prefix"])


def _masked_header(found: re.Match[str]) -> str:
    bearer = found["before"].lower().startswith("bearer")
    if bearer and not any(character.isdigit() for character in found["secret"]):
        return found[0]  # "the bearer certificates"
    return found["before"] + _mask("authorization")


def _masked_assignment(found: re.Match[str]) -> str:
    if not _is_secret(found):
        return found[0]
    return found["name"] + found["between"] + found["quote"] + _mask("value")


def _is_secret(found: re.Match[str]) -> bool:
    """Tell ``TOKEN=f3ab91c07d24`` from ``token = next_token`` and ``token=read(...)``."""
    name, secret = found["name"], found["secret"]
    following = found.string[found.end() : found.end() + 1]
    if _PLACEHOLDER.match(secret) or following in {"(", "["}:
        return False
    if not found["between"].strip() and not found.string.endswith("--", 0, found.start()):
        return False  # words in a row are prose, except after "--token"
    is_password = name.lower().startswith(("passw", "passphrase", "pwd"))
    if " " in secret and not is_password:
        return False
    if any(character.isdigit() for character in secret):
        return is_password or len(secret) >= 12
    return name.isupper() or (is_password and bool(found["quote"]))


def _masked_password(found: re.Match[str]) -> str:
    return found["before"] + _mask("password")


_Rule = tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]]
_RULES: tuple[_Rule, ...] = (
    (("private key",), _PRIVATE_KEY, _mask("private key")),
    (("authorization", "bearer"), _HEADER, _masked_header),
    (("-", "_", "sg.", "ya29.", "aiza", "akia", "asia"), _VENDOR, _masked_key),
    (("eyj",), _JWT, _mask("eyJ")),
    (("://",), _ADDRESS, _masked_password),
    (("key", "token", "secret", "credential", "passw", "passphrase", "pwd", "_pat"),
     _ASSIGNMENT, _masked_assignment),
)  # fmt: skip
"""Words of which one must occur, the pattern to look for then, and what takes its place."""
