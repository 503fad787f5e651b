"""The process that `search_process` starts: reads a question from stdin, prints the findings."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict

from tools.files.findings import Clock, Query
from tools.files.local_place import LOCAL
from tools.files.patterns import compile_pattern
from tools.files.searching import search_contents


def main() -> None:
    question = json.load(sys.stdin)
    query = Query(**question["query"])
    pattern = compile_pattern(query.pattern, question["flags"])
    clock = Clock(time.monotonic() + 3_600)  # the parent looks at the real one
    print(json.dumps(asdict(search_contents(query, pattern, LOCAL, clock))))


if __name__ == "__main__":
    main()
