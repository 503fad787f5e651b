"""Masks secrets in text that people keep: saved outputs, logs, the session store.

It knows shapes, not values: keys by their vendor's prefix, authorization headers, private keys,
tokens (JWT), passwords in addresses, and assignments to names that say what they hold. A mask
cannot be mistaken for a key, so a masked file that is written back fails loudly. What has no
known shape is not found: this is a net, no wall.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_VENDOR = re.compile(
    r"""(?<![A-Za-z0-9])(?P<prefix>
        sk-(?:ant-|proj-|or-v1-|svcacct-)? | sk_live_ | sk_test_ | rk_live_ | whsec_ | gsk_ | xai-
      | pplx- | tvly- | r8_ | hf_ | gh[pousr]_ | github_pat_ | glpat- | npm_ | pypi-AgE
      | dckr_pat_ | dop_v1_ | shpat_ | lsv2_[ps]t_ | xox[abeoprs]- | xapp- | SG\. | ya29\.
      | AIza | AKIA | ASIA )
    (?P<secret>[A-Za-z0-9_\-.]{12,})""",
    re.VERBOSE,
)
_JWT = re.compile(r"(?<![\w-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_HEADER = re.compile(
    r"(?P<before>(?i:\bauthorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:[a-z]{1,12}\s{1,3})?|"
    r"\bbearer\s{1,3}))(?P<secret>[A-Za-z0-9._~+/=-]{8,})"
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


def redact(text: str) -> str:
    """The text with every secret of a known shape masked as ``«redacted:PREFIX…»``."""
    for triggers, pattern, masked in _RULES:
        lowered = text.lower()
        if any(trigger in lowered for trigger in triggers):  # looking for words is cheap
            text = pattern.sub(masked, text)
    return text


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
