"""Search in a process of its own, which can be ended: for patterns that might run for ever."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import tools
from tools.files.findings import Clock, Findings, Query, findings_of
from tools.files.problems import Problem

LOOK_SECONDS = 0.05
PACKAGE_FOLDER = Path(tools.__file__).parent.parent


def search_apart(query: Query, flags: int, clock: Clock) -> Findings:
    """The same as `search_contents`, for local files, with an end whatever the pattern does."""
    question = json.dumps({"query": asdict(query), "flags": flags})
    command = [sys.executable, "-s", "-m", "tools.files.search_child"]
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
        return findings_of(json.loads(output))
