"""Which models see images: data, by provider and name, where neither user nor server says it.

A model that is not known here counts as one that sees: its server refuses images if it does not,
and then the conversation goes on without them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_jupyter.agent.models.providers import Provider

SEES: Sequence[str] = (
    "*vision*", "*-vl*", "*vl-*", "*qwen*vl*", "*pixtral*", "*llava*", "*minicpm-v*", "*moondream*",
    "*internvl*", "*gemma-3-4b*", "*gemma-3-12b*", "*gemma-3-27b*", "*gemma3:4b*", "*gemma3:12b*",
    "*gemma3:27b*", "gpt-4o*", "gpt-4.1*", "gpt-5*", "*omni*", "*multimodal*",
)  # fmt: skip
"""Patterns over the last part of a name. They go before those of `BLIND`."""
BLIND: Sequence[str] = (
    "gpt-3.5*", "gpt-4", "gpt-4-0*", "o1-mini*", "o3-mini*", "gpt-oss*", "*codestral*",
    "*devstral*", "*mixtral*", "mistral-7b*", "*deepseek*", "*qwen*", "*qwq*", "*llama-2*",
    "*llama-3*", "*llama2*", "*llama3*", "*codellama*", "*tinyllama*", "*smollm*", "*phi-2*",
    "*phi-3*", "*phi-4", "*phi-4-mini*", "*gemma-2*", "*gemma2*", "*gemma-3-1b*",
    "*gemma-3-270m*", "*gemma3:1b*", "*gemma3:270m*", "*starcoder*", "*command-r*", "*glm-4*",
    "*kimi-k2", "*kimi-k2-*", "*minimax*", "*hermes-2*", "*hermes-3*", "*hermes-4*",
    "*granite*code*", "*nemotron*",
)  # fmt: skip
BLIND_PROVIDERS = frozenset({"deepseek"})
"""Who offers no model that sees."""
_QUALIFIER = re.compile(r":(free|latest|nitro|floor|beta|thinking|online)$")


def sees(name: str, provider: Provider) -> bool:
    """Does a model of this name see, as far as that is known?"""
    plain = _QUALIFIER.sub("", name.rpartition("/")[2].lower())
    if any(fnmatch.fnmatchcase(plain, pattern) for pattern in SEES):
        return True
    if provider.name in BLIND_PROVIDERS:
        return False
    return not any(fnmatch.fnmatchcase(plain, pattern) for pattern in BLIND)


def told_by(entry: Mapping[str, Any]) -> bool | None:
    """What a server's list of models says of one; None if it says nothing.

    OpenRouter tells ``architecture.input_modalities``, llama.cpp and Mistral ``capabilities``,
    vLLM and LM Studio ``type``, others ``modalities``.
    """
    about = entry.get("architecture")
    kinds = about.get("input_modalities") if isinstance(about, Mapping) else None
    kinds = kinds or entry.get("input_modalities") or entry.get("modalities")
    if isinstance(kinds, list):
        return "image" in kinds
    able = entry.get("capabilities")
    if isinstance(able, Mapping):
        return able["vision"] if isinstance(able.get("vision"), bool) else None
    if isinstance(able, list) and able:
        return "multimodal" in able or "vision" in able
    return True if entry.get("type") == "vlm" else None
