"""Variables in a prompt: ``{name}`` becomes the value, ``@name`` stays and is explained below."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes_jupyter.kernel.namespace import expand_names
from tools.values.plain import named

MENTION = re.compile(r"(?:^|(?<=[\s(\[{,;:\"'`]))@([A-Za-z_]\w*)", re.MULTILINE)
MOST = 20
WORDS = 300
"""Characters for each."""
INTRO = "[Variables of the user's that this mentions:"


def as_meant(text: str, namespace: Mapping[str, Any]) -> str:
    """The prompt with what it says of variables.

    What a value says is data: neither braces nor mentions in it count.
    """
    return expand_names(text, namespace) + mentioned(text, namespace)


def mentioned(text: str, namespace: Mapping[str, Any]) -> str:
    """What the variables are that a text mentions with ``@``; empty if it mentions none.

    A name that is no variable stays what it was: a decorator, a person, a part of an address.
    Values whose names and shapes are those of secrets are hidden.
    """
    names = [*dict.fromkeys(name for name in MENTION.findall(text) if name in namespace)]
    if not names:
        return ""
    lines = [f"{name}: {named(name, namespace[name], WORDS)}" for name in names[:MOST]]
    return "\n".join(["", "", INTRO, *lines]) + "]"
