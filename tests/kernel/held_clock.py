"""Run in a kernel: the time in which a person could read a question stands still.

It does so while there is a file ``held`` in the kernel's folder. What is typed then was typed
ahead, however busy the machine is.
"""

import time
from functools import partial
from pathlib import Path

from hermes_jupyter.views import turn
from hermes_jupyter.views.streams import StandardStreams


def held() -> float:
    return 0.0 if Path("held").exists() else time.monotonic()


turn.StandardStreams = partial(StandardStreams, clock=held)
