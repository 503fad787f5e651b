"""What servers say when they refuse: in many shapes, and in many words for the same thing."""

from __future__ import annotations

import json
import re
from typing import Any

from hermes_jupyter.text import mended

MAX_MESSAGE_CHARS = 300
MIN_SECRET_CHARS = 4  # a shorter "key" is a word like "none", and not to be searched for

_UNPRINTABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")
_BEARER = re.compile(r"(?i)\b(bearer)\s+[\w.~+/=-]{8,}")
_HTML = re.compile(r"(?i)\s*<(!|html|head|body|\?xml)")
_CONTEXT_CODES = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "contextwindowexceedederror",
    "model_max_prompt_tokens_exceeded",
    "string_above_max_length",
}
_CONTEXT_OVERFLOW = re.compile(
    r"""(?ix)
    (maximum|max|model'?s?)\s+context\s+(length|window|size)
    | context[\s_]?(length|window|size|limit)\w*\s+(was\s+|is\s+|of\s+\d+\s+)?(exceed|too\s+small)
    | exceed\w*\s+(the\s+)?((available|model'?s?|maximum|max)\s+)*context
    | (prompt|input|conversation|request|messages?)\s+(is|are)\s+(too\s+(long|large)|longer\s+than)
    | prompt\s+(exceeds|contains\s+too)
    | input\s+token\s+count .{0,40} exceeds
    | exceeds?\s+the\s+maximum\s+(number\s+of\s+)?(input\s+)?(tokens|length)
    | reduce\s+the\s+length\s+of\s+(the\s+|your\s+)?(messages|prompt|input)
    | tokens\s+in\s+request\s+more\s+than
    | contextwindowexceeded | exceed_context_size | context_length_exceeded
    """
)

_NUMBERS = {
    "window": re.compile(
        r"""(?ix) (?:context\s+(?:length|window|size)|maximum|limit|n_ctx)\D{0,30}?(\d[\d,]{2,})
        | >\s*(\d[\d,]{2,})\s+maximum"""
    ),
    "asked": re.compile(
        r"""(?ix) (?:resulted\s+in|requested|contains|prompt\s+is\s+too\s+long:|n_prompt_tokens"?:?
        |input\s+token\s+count\s*\(?|request\s*\()\s*(\d[\d,]{2,})"""
    ),
}
_IMAGE = re.compile(
    r"""(?ix)
    \bimages?\b .{0,80}
      (too\s+(large|big|many)|not\s+support|unsupported|exceed|invalid|could\s+not)
    | (not\s+support|unsupported|invalid|does\s+not\s+accept|no\s+endpoints\s+found\s+that)
      .{0,60} \b(image|vision|multimodal)
    | image_url .{0,60} (only\s+supported|invalid|not\s+a\s+valid|unknown\s+variant)
    | unknown\s+variant\s+.?image_url | image_parse_error | mmproj
    """
)
_POLICY = re.compile(
    r"(?i)content[ _](management\s+)?(policy|filter)|content_policy|responsibleai|safety\s+system"
    r"|flagged\s+(as|for)|usage\s+polic|prohibited_content|moderation"
)
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "insufficient_credits"}
_QUOTA = re.compile(r"(?i)exceeded your current quota|insufficient\s+(credits|balance|funds|quota)")
_BUSY_CODES = {"overloaded_error", "overloaded", "engine_overloaded", "server_is_overloaded"}


def one_line(text: str, *, secret: str = "") -> str:
    """``text`` as one printable line of bounded length, without ``secret``."""
    if len(secret) >= MIN_SECRET_CHARS:
        text = text.replace(secret, "***")
    text = _BEARER.sub(r"\1 ***", text)
    text = _UNPRINTABLE.sub(" ", text).strip()
    text = mended(text)
    return text if len(text) <= MAX_MESSAGE_CHARS else f"{text[: MAX_MESSAGE_CHARS - 1]}…"


def message_of(body: Any) -> str:
    """The sentence for a person inside the body of an error, whatever its shape."""
    if isinstance(body, str):
        return "an HTML page" if is_html(body) else body
    if isinstance(body, list):
        return "; ".join(message_of(part) for part in body)
    if not isinstance(body, dict):
        return "" if body is None else str(body)
    for key in ("message", "detail", "msg", "error", "reason"):
        if body.get(key):
            return message_of(body[key]) + _said_behind(body)
    return json.dumps(body, ensure_ascii=False, default=str)


def _said_behind(body: dict[str, Any]) -> str:
    """What the provider behind a gateway said (OpenRouter), or the field FastAPI means."""
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
        return f": {metadata['raw']}"
    place = body.get("loc")
    return f" ({'.'.join(map(str, place))})" if isinstance(place, list) else ""


def code_of(body: Any) -> str:
    """The error's code, or else its type; lower case, empty if it has none."""
    if not isinstance(body, dict):
        return ""
    inner = body.get("error")
    if isinstance(inner, dict):
        return code_of(inner)
    if isinstance(body.get("status"), str):  # Google's word for the code
        body = {"type": body["status"], **body}
    type_, code = body.get("type"), body.get("code")
    known_type = isinstance(type_, str) and type_.lower() in _CONTEXT_CODES
    return str(type_ if known_type or not code else code).lower() if (type_ or code) else ""


def is_context_overflow(message: str, code: str = "") -> bool:
    """Whether the server says that the conversation is larger than the model's window."""
    return code in _CONTEXT_CODES or _CONTEXT_OVERFLOW.search(message) is not None


def token_counts(message: str) -> tuple[int, int]:
    """The window and the tokens that were sent, as a refusal says them; 0 for what it does not."""
    window, asked = (_number(pattern, message) for pattern in _NUMBERS.values())
    return window, asked


def _number(pattern: re.Pattern[str], message: str) -> int:
    found = pattern.search(message)
    digits = next((group for group in found.groups() if group), "") if found else ""
    return int(digits.replace(",", "")) if digits else 0


def is_about_images(message: str) -> bool:
    """Whether it is the images of the request that the server does not take."""
    return _IMAGE.search(message) is not None


def is_policy(message: str, code: str = "") -> bool:
    """Whether a filter of the provider refuses the request."""
    return _POLICY.search(f"{code} {message}") is not None


def is_used_up(message: str, code: str = "") -> bool:
    """Whether the account has nothing left: waiting a minute would not help."""
    return code in _QUOTA_CODES or _QUOTA.search(message) is not None


def is_busy(message: str, code: str = "") -> bool:
    """Whether the server has too much to do."""
    return code in _BUSY_CODES or "overloaded" in message.lower()


def retry_delay_of(body: Any) -> float | None:
    """Seconds to wait, as Google's errors name them: ``details: [{retryDelay: "17s"}]``."""
    if isinstance(body, list):
        return next((found for part in body if (found := retry_delay_of(part)) is not None), None)
    if not isinstance(body, dict):
        return None
    said = body.get("retryDelay")
    if isinstance(said, str) and said.endswith("s"):
        try:
            return max(0.0, float(said[:-1]))
        except ValueError:
            return None
    nested = retry_delay_of(body.get("error"))
    return retry_delay_of(body.get("details")) if nested is None else nested


def is_html(text: str) -> bool:
    """Whether this is a web page."""
    return _HTML.match(text) is not None
