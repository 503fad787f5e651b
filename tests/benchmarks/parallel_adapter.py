"""Our parallel batch as the shared benchmark of tool systems calls it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hermes_jupyter.agent.batches import run_batch
from hermes_jupyter.agent.checks import checked
from hermes_jupyter.agent.models.base import RawCall
from hermes_jupyter.events import Event
from hermes_jupyter.road.approval import ApprovalDesk
from hermes_jupyter.road.policy import Policy
from hermes_jupyter.road.run import Road
from tools.async_bridge import run_async
from tools.registry import registry


def nobody(event: Event) -> None:
    """Nothing listens to the benchmark."""


def run_parallel(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Run the calls of a step from their JSON text to the answers, side by side."""
    view = registry.view()
    road = Road(tools=view, desk=ApprovalDesk(), policy=Policy(), emit=nobody, context={})
    raw = [
        RawCall(id=f"call_{place}", name=name, arguments=json.dumps(args))
        for place, (name, args) in enumerate(calls)
    ]
    results = run_async(run_batch(checked(raw, view.names), road.run, nobody))
    return [result.text for result in results]
