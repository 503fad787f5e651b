"""Keep quiet about widgets of ours that a front end closes when they are closed already.

ipykernel would print a line below the cell for each. qtconsole, which closes every widget that it
is told of, may do so long after the turn.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

MOST = 5_000
COMPLAINT = "No such comm: %s"


class OwnComms(logging.Filter):
    """Knows the ids of our widgets, and lets no complaint about them pass."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: OrderedDict[str, None] = OrderedDict()

    def add(self, comm_id: str) -> None:
        self._ids[comm_id] = None
        while len(self._ids) > MOST:
            self._ids.popitem(last=False)

    def filter(self, record: logging.LogRecord) -> bool:
        is_ours = isinstance(record.args, tuple) and record.args[:1] and record.args[0] in self._ids
        return not (record.msg == COMPLAINT and is_ours)


OWN = OwnComms()
logging.getLogger("Comm").addFilter(OWN)
