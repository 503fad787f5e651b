"""Search in a process of its own, which can be ended: for patterns that might run for ever.

``python -m tools.files.search_process`` reads a question from stdin and prints the findings.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import tools
from tools.files.access import LOCAL
from tools.files.patterns import compile_pattern
from tools.files.problems import Problem
from tools.files.searching import Clock, Findings, Match, Query, search_contents

LOOK_SECONDS = 0.05
PACKAGE_FOLDER = Path(tools.__file__).parent.parent


def search_apart(query: Query, flags: int, clock: Clock) -> Findings:
    """The same as `search_contents`, for local files, with an end whatever the pattern does."""
    question = json.dumps({"query": asdict(query), "flags": flags})
    command = [sys.executable, "-s", "-m", "tools.files.search_process"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=PACKAGE_FOLDER,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            return _answer(process, question, clock)
        finally:
            process.kill()


def _answer(process: subprocess.Popen[str], question: str, clock: Clock) -> Findings:
    asked: str | None = question
    while True:
        try:
            output, errors = process.communicate(asked, timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            asked = None
            why = clock.why_stopped()
            if why:
                return Findings(stopped=why)
            continue
        if process.returncode:
            raise Problem(f"The search failed: {errors.strip().rpartition(chr(10))[2]}")
        found = json.loads(output)
        found["matches"] = [Match(**match) for match in found["matches"]]
        return Findings(**found)


def main() -> None:
    question = json.load(sys.stdin)
    query = Query(**question["query"])
    pattern = compile_pattern(query.pattern, question["flags"])
    clock = Clock(time.monotonic() + 3_600)  # the parent looks at the real one
    print(json.dumps(asdict(search_contents(query, pattern, LOCAL, clock))))


if __name__ == "__main__":
    main()
