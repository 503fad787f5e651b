"""Import the registry and all built-in tools in a fresh process; print what that cost, as JSON."""

import json
import os
import sys
import time

from tests.benchmarks.load_probe import peak_megabytes

modules, cpu = set(sys.modules), time.process_time()
from tools.discovery import discover_builtin  # noqa: E402 - the import is what is timed

discover_builtin()
cpu = time.process_time() - cpu
memory = peak_megabytes()

from tools.registry import registry  # noqa: E402

asked = time.perf_counter()
definitions = registry.get_definitions(registry.get_all_tool_names())
asked = time.perf_counter() - asked
found = {
    "cpu_ms": cpu * 1e3,
    "memory_mb": memory,
    "modules": len(set(sys.modules) - modules),
    "tools": len(definitions),
    "definitions_ms": asked * 1e3,
}
print(json.dumps(found), flush=True)
os._exit(0)
