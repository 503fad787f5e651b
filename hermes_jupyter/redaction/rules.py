"""How secrets look: for each kind a pattern, and what of a match is the secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

# Where a word may begin: also behind the "\n" of a text that is quoted as code or JSON.
BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtfvb]))"
_VENDOR = re.compile(
    BEGINS
    + r"""(?P<prefix>
      # models and search
        sk-(?:ant-|proj-|or-v1-|svcacct-|admin-|lf-)? | gsk_ | xai- | pplx- | tvly- | r8_ | hf_
      | api_org_ | nvapi- | tgp_v1_ | fal_ | jina_ | fc- | exa_ | csk- | bb_live_ | e2b_
      # code, packages
      | gh[pousr]_ | github_pat_ | gl(?:pat|dt|rt|cbt|ptt|ft|soat)- | npm_ | pypi-AgE | rubygems_
      | dckr_[po]at_ | ATATT3 | ATCTT3 | PMAK- | CFPAT- | lin_api_ | figd_ | ntn_ | secret_
      # clouds, operations
      | AKIA | ASIA | ABIA | AIza | ya29\. | GOCSPX- | do[opr]_v1_ | dapi | hv[sbr]\. | tskey-
      | pul- | dp\.(?:pt|st|ct|sa)\. | glsa_ | glc_ | sntry[su]_ | NRAK- | phx_ | rnd_ | sbp_
      | sb_secret_ | lsv2_[ps]t_ | AGE-SECRET-KEY-1
      # money, shops, messages
      | [srp]k_(?:live|test)_ | sk_ | whsec_ | sq0(?:atp|csp)- | shp(?:at|ca|pa|ss)_
      | xox[abceoprs](?:\.xox[bp])?- | xapp- | SG\. | key- | syt_ | gAAAA )
    (?P<secret>[A-Za-z0-9_\-.]{12,})""",
    re.VERBOSE,
)
_TELEGRAM = re.compile(BEGINS + r"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")
_JWT = re.compile(
    r"(?:(?<![\w-])|(?<=\\[nrtfvb]))eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
)
_PRIVATE_KEY = re.compile(
    r"""-----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
    (?: (?:[^-«]|-(?!----)){0,20000} -----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
      # or without its end: lines of nothing else, however they are numbered or quoted
      | (?: [\s\\|:,"'>+]{0,20} \d{0,6} [\s\\|:,"'>+]{0,8} [A-Za-z0-9+/=]{30,} ){0,400}
        [\s\\"']{0,20} [A-Za-z0-9+/=]{6,80} )""",
    re.VERBOSE,
)
_HEADER = re.compile(
    BEGINS
    + r"(?P<before>(?i:authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:[a-z]{1,12}\s{1,3})?|"
    r"bearer\s{1,3}))(?P<secret>[A-Za-z0-9._~+/=-]{8,})"
)
_ADDRESS = re.compile(
    r"(?P<before>://[^\s/:@\"'<>«»]{0,100}:)(?P<secret>[^\s/@\"'<>«»]{1,200})(?=@)"
)
_USER = re.compile(
    r"(?P<before>(?<!\S)(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'«»]{1,80}:)"
    r"(?P<secret>[^\s:\"'«»/]{6,200})(?=[\"'\s]|\Z)"
)
_ASSIGNMENT = re.compile(
    r"""(?P<name> (?i: api[_-]?key | access[_-]?key(?:[_-]id)? | (?:secret|private|auth|account
                     |signing|encryption|master|license)[_-]?key(?:[_-]base)? | token | secret
                     | credentials? | passw(?:or)?d | passphrase | \bpwd
                     | x-amz-signature | (?<=[?&])sig ) | _KEY | _PAT )
    (?: _(?: \d{1,2} | (?i:prod(?:uction)? | dev | test | staging) ) )?
    (?P<between> \\?["']?[ \t]{0,3}(?:=>|:=|[:=])[ \t]{0,3} | [ \t]{1,3} )
    (?P<quote> \\?["']? )
    (?P<secret> (?<=["'])[^"'\n«»\\]{6,200}(?=\\?["']) | [^\s"'«»,;(){}\[\]<>\\`]{6,} )""",
    re.VERBOSE,
)
_LITERAL = re.compile(r"[$%*{<]|x{6,}|\.{3}|your[_-]", re.IGNORECASE)
"""Beginnings of what stands for a secret in documents and programs, and is none."""
_ATTRIBUTE = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
_FLAG = re.compile(r"--[\w-]{0,40}\Z")
_OWN_MASK = re.compile(r"«(?:secret:[^«»\s:]{1,60}:[0-9a-f]{8,64}|redacted:[^«»\n]{1,60})»")
LEAST_TOKEN, LEAST_VALUE = 12, 8


class Found(NamedTuple):
    """Where in the text a secret stands, and of what kind it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret."""

    triggers: tuple[str, ...]
    """In lower case; without one of them the text need not be looked at."""
    pattern: re.Pattern[str]
    secret_in: Callable[[re.Match[str]], Found | None]

    def replaced(self, text: str, replacement: Callable[[str, str], str]) -> str:
        """The text with each secret of this kind replaced."""

        def replace(match: re.Match[str]) -> str:
            found = self.secret_in(match)
            if found is None or _is_masked(text, found.start):
                return match[0]
            secret = text[found.start : found.end]
            before, behind = text[match.start() : found.start], text[found.end : match.end()]
            return before + replacement(found.kind, secret) + behind

        return self.pattern.sub(replace, text)


def _is_masked(text: str, at: int) -> bool:
    """Is this place inside of a mask that we have put there?"""
    opened = text.rfind("«", max(0, at - 80), at)
    mask = _OWN_MASK.match(text, opened) if opened >= 0 else None
    return mask is not None and mask.end() > at


def _whole(kind: str) -> Callable[[re.Match[str]], Found]:
    return lambda match: Found(match.start(), match.end(), kind)


def _key(match: re.Match[str]) -> Found | None:
    prefix, secret = match["prefix"], match["secret"]
    if not any(character.isdigit() for character in secret):
        return None  # "sk-learn-contributors" is a name
    is_common = prefix in _COMMON_PREFIXES
    if is_common and (len(secret) < 20 or not secret.isalnum()):
        return None
    return Found(match.start(), match.end(), prefix)


_COMMON_PREFIXES = frozenset({
    "csk-", "dapi", "e2b_", "exa_", "fal_", "fc-", "glc_", "gsk_", "hf_", "jina_", "key-", "npm_",
    "ntn_", "phx_", "pplx-", "pul-", "r8_", "rnd_", "secret_", "sk_", "xai-",
})  # fmt: skip
"""Beginnings of many a plain name: only a long run of letters and digits is a key."""


def _header(match: re.Match[str]) -> Found | None:
    before, secret = match["before"], match["secret"]
    has_scheme = before[-1].isspace() and before.split()[-1].strip("\\\"'").isalpha()
    has_scheme = has_scheme and not before.lower().startswith("bearer")
    if not has_scheme and not any(character.isdigit() for character in secret):
        return None  # "the bearer certificates", "authorization: Optional"
    return Found(match.start("secret"), match.end("secret"), "authorization")


def _assigned(match: re.Match[str]) -> Found | None:
    if not _is_assigned_secret(match):
        return None
    return Found(match.start("secret"), match.end("secret"), "value")


def _is_assigned_secret(match: re.Match[str]) -> bool:
    """Tell ``TOKEN=f3ab91c07d24`` from ``token = next_token`` and ``token=read(...)``."""
    name, secret = match["name"], match["secret"]
    following = match.string[match.end() : match.end() + 1]
    if _LITERAL.match(secret) or following in {"(", "["}:
        return False
    if not match["between"].strip() and not _FLAG.search(match.string, 0, match.start()):
        return False  # words in a row are prose, except after "--token"
    is_password = name.lower().startswith(("passw", "passphrase", "pwd"))
    if name.lower() == "pwd" and secret.startswith(("/", "~")):
        return False
    if " " in secret and not is_password:
        return False
    if any(character.isdigit() for character in secret):
        return is_password or len(secret) >= LEAST_TOKEN
    if len(secret) < LEAST_VALUE or (not match["quote"] and _ATTRIBUTE.fullmatch(secret)):
        return False
    return name.isupper() or (is_password and bool(match["quote"]))


def _user(match: re.Match[str]) -> Found | None:
    plain = match["secret"].strip(",;.").isalpha()
    return None if plain else _password(match)  # "sort -u names:values"


def _password(match: re.Match[str]) -> Found:
    return Found(match.start("secret"), match.end("secret"), "password")


_VENDOR_TRIGGERS = (
    "-", "_", ".", "aiza", "akia", "asia", "abia", "dapi", "atatt3", "atctt3", "gaaaa",
)  # fmt: skip

RULES = (
    Rule(("private key",), _PRIVATE_KEY, _whole("private-key")),
    Rule(("authorization", "bearer"), _HEADER, _header),
    Rule(_VENDOR_TRIGGERS, _VENDOR, _key),
    Rule((":aa",), _TELEGRAM, _whole("telegram")),
    Rule(("eyj",), _JWT, _whole("eyJ")),
    Rule(("://",), _ADDRESS, _password),
    Rule(("-u ", "-user"), _USER, _user),
    Rule(("key", "token", "secret", "credential", "passw", "passphrase", "pwd", "_pat",
          "signature", "sig="), _ASSIGNMENT, _assigned),
)  # fmt: skip

HINTS = (
    "key", "token", "secret", "passw", "passphrase", "pwd", "_pat", "credential",
    "authorization", "bearer", "://", "dapi", "signature", "sig=", "-u ", "-user",
)  # fmt: skip
LONG_WORD = re.compile(r"[-_.A][A-Za-z0-9_\-.]{9}")
"""In each key that a vendor's prefix or a JWT begins."""
