"""Text that tries to give an agent orders: what is kept for later conversations must hold none.

A net, not a wall: it knows kinds of sentences, in English and Chinese. Whoever keeps such text
shows the person what was left out and why.
"""

from __future__ import annotations

import re

MAX_CHARS = 200_000
"""What is longer is looked at in its first part only; nothing that is kept is as long."""

UNSEEN = re.compile(r"[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Zero width, change of direction, tags; not the joiners that Persian, Hindi and emoji need."""
_ALL = r"(?:(?:any|all|every|each|the|your|my|these|those|of|and|or)\s+){0,4}"
_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|former|system|safety|original|developer)\s+"
    r"(?:\w+\s+){0,2}"
)
_WHOLE = r"(?:all|every|any|your)\s+(?:of\s+)?(?:the\s+|your\s+)?"
_ORDERS = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|constraints?|polic(?:y|ies))"

KINDS: dict[str, re.Pattern[str]] = {
    "tells an agent to ignore what it was told": re.compile(
        rf"\b(?:ignore|disregard|forget|override|bypass|discard)\s+(?:{_ALL}{_BEFORE}|{_WHOLE})"
        rf"{_ORDERS}\b"
        r"|\b(?:do\s+not|don't|never)\s+(?:follow|obey|heed)\s+(?:the\s+|your\s+)?(?:system|previous"
        r"|safety)\b"
        r"|(?:忽略|无视|忘记|不要理会|绕过)(?:你)?(?:之前|以上|先前|上面|此前|前面|所有|系统)"
        r"[^。\n]{0,12}(?:指令|指示|提示|规则|要求|命令)",
        re.IGNORECASE,
    ),
    "gives an agent another identity without limits": re.compile(
        r"\byou\s+(?:are|have)\s+(?:now|no\s+longer)\b[^.\n]{0,60}\b(?:unrestricted|jailbroken|"
        r"without\s+(?:any\s+)?(?:restrictions?|rules|limits)|developer\s+mode|bound\s+by|DAN)\b"
        r"|\b(?:act|behave|respond)\s+as\s+(?:if|though)\s+you\s+(?:have|had|were)\s+(?:no|not)\b"
        r"|\b(?:enter|enable|activate)\s+(?:developer|god|dan|jailbreak)\s+mode\b",
        re.IGNORECASE,
    ),
    "tells an agent to hide something from the user": re.compile(
        r"\b(?:do\s+not|don't|never|without)\s+(?:ever\s+)?(?:tell|telling|inform|informing|mention|"
        r"mentioning|reveal|revealing|show|showing|notify|notifying|alert|alerting)\b"
        r"[^.\n]{0,30}\b(?:user|person|human|owner|operator)s?\b(?![-_\s]+(?:table|model|class|ids?"
        r"|names?|groups?|guide|interface|data|agents?|story|stories)\b)"
        r"|(?:不要|别|不得)(?:告诉|通知)[^。\n]{0,6}用户",
        re.IGNORECASE,
    ),
    "tells an agent to go round its approvals": re.compile(
        r"\b(?:skip|bypass|disable|turn\s+off|switch\s+off|avoid)\s+(?:the\s+|all\s+|any\s+)?"
        r"(?:approvals?|confirmations?|safety\s+checks?|guard(?:rail)?s?|permission\s+prompts?)\b"
        r"|\bauto-?approve\s+(?:everything|all|any)\b",
        re.IGNORECASE,
    ),
    "sends secrets away": re.compile(
        r"\b(?:curl|wget|nc|ncat|fetch|Invoke-WebRequest|requests?\.(?:post|get|put))\b[^\n]{0,200}"
        r"(?:\$\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*|[@<=(]\s*\S*\.env\b|id_(?:rsa|ed25519)|\.aws/|\.ssh/"
        r"|\.netrc|/etc/shadow)"
        r"|\b(?:send|post|upload|exfiltrate|leak|forward|email|transmit)\s+(?:\w+\s+){0,5}"
        r"(?:api[\s_-]?keys?|tokens?|passwords?|credentials?|secrets?|private\s+keys?|\.env)\b"
        r"[^.\n]{0,40}\b(?:to|at)\b\s*\S*(?:https?:|@|\.[a-z]{2,}\b|server|webhook)",
        re.IGNORECASE,
    ),
    "has marks of another speaker": re.compile(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>"
        r"|\[/?INST\]|<</?SYS>>|</?(?:system|assistant)(?:[-_]\w+)?>",
        re.IGNORECASE,
    ),
}


def order_in(text: str) -> str:
    """What in the text an agent might take for an order, and in which line; "" if nothing."""
    text = text[:MAX_CHARS]
    if found := UNSEEN.search(text):
        return f"hides a part of its text: U+{ord(found.group()):04X}"
    for kind, pattern in KINDS.items():
        if found := pattern.search(text):
            return f"{kind} (line {text.count(chr(10), 0, found.start()) + 1})"
    return ""
