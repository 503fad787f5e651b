"""Load one extension into a fresh shell and print what that cost, as JSON.

``python load_probe.py EXTENSION [--audit]``. Runs in any environment that has IPython. The audit
hook slows things down, so a process that is timed has none.
"""

import io
import json
import os
import sys
import threading
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink"}


def peak_megabytes() -> float:
    """Peak memory. On Linux ``ru_maxrss`` would be inherited from the process that forked."""
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main(extension: str, audited: bool) -> None:
    warnings.simplefilter("ignore")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    wrote: list[str] = []
    sockets: list[str] = []

    def hook(event: str, args: tuple[Any, ...]) -> None:
        opened = event == "open" and isinstance(args[2], int) and args[2] & WRITING
        if opened or event in CHANGES:
            wrote.append(str(args[0]))
        elif event == "socket.__new__":
            sockets.append(str(args[1:]))

    if audited:
        sys.addaudithook(hook)
    printed = io.StringIO()
    modules, memory = set(sys.modules), peak_megabytes()
    with redirect_stdout(printed), redirect_stderr(printed):
        wall, cpu = time.perf_counter(), time.process_time()
        problem = shell.extension_manager.load_extension(extension)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {
        "wall_ms": wall * 1e3,
        "cpu_ms": cpu * 1e3,
        "modules": len(set(sys.modules) - modules),
        "memory_mb": peak_megabytes() - memory,
        "threads": threading.active_count() - 1,
        "wrote": wrote,
        "sockets": sockets,
        "lines": len(printed.getvalue().splitlines()),
        "problem": problem,
    }
    print(json.dumps(found), flush=True)
    os._exit(0)  # no history thread, no atexit: nothing after the load counts


if __name__ == "__main__":
    main(sys.argv[1], "--audit" in sys.argv[2:])
