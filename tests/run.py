"""Run pytest; a test that fails beside others is run once more, alone.

``python tests/run.py PYTEST_OPTIONS``. The tests drive kernels, browsers and engines against the
clock of a machine that may be busy. One that fails alone as well is broken, and so is the run. One
that passes alone lost a race: it is named at the end, to be mended.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

MAX_AGAIN = 5
"""With more than these the machine is not the reason."""

GROUP = re.compile(r"@[\w-]+$")
"""What ``--dist loadgroup`` writes behind the name of a test."""


class Failures:
    """Notes which tests failed, also those of other processes."""

    def __init__(self) -> None:
        self.tests: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            test = GROUP.sub("", report.nodeid)
            self.tests = [*dict.fromkeys([*self.tests, test])]


def main(options: list[str]) -> int:
    """The exit code of the tests."""
    failures = Failures()
    code = pytest.main(options, plugins=[failures])
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failures.tests) <= MAX_AGAIN:
        return code
    print("\nOnce more, alone:", *failures.tests, sep="\n  ", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", *failures.tests], check=False)
    if again.returncode == 0:
        print("\nUnsteady: these failed beside others and passed alone:", flush=True)
        print(*failures.tests, sep="\n", flush=True)
    return again.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
