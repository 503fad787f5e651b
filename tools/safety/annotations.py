"""Guards for tools that only say of themselves what they do: those of MCP servers and plugins."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tools.safety.objection import Objection

Guard = Callable[..., Objection | None]
GRANT = "this exact call"


def guard_from_annotations(annotations: Mapping[str, Any] | None) -> Guard | None:
    """The ``guard_fn`` of a tool with these annotations; None if it needs no question.

    Parameters
    ----------
    annotations
        ``readOnlyHint``, ``destructiveHint``, ``openWorldHint`` as in the Model Context Protocol.
        They are claims of the server. What they do not claim counts as the worse.
    """
    said = annotations if isinstance(annotations, Mapping) else {}
    if said.get("readOnlyHint") is True:
        return None
    reason = _reason(said)

    def guard(args: Mapping[str, Any], **_: Any) -> Objection:
        shown = json.dumps(dict(args), ensure_ascii=False, indent=2, default=str)
        return Objection(reason=reason, shown=shown, grant=GRANT)

    return guard


def _reason(said: Mapping[str, Any]) -> str:
    outside = "" if said.get("openWorldHint") is False else ", and reaches the outside world"
    match said.get("destructiveHint"):
        case True:
            return f"may change or delete things for good, by what its server says{outside}"
        case False:
            return f"adds things or changes them, by what its server says{outside}"
        case _ if said.get("readOnlyHint") is False:
            return f"changes things; its server does not say whether any are lost{outside}"
    return "does not say whether it changes anything"
