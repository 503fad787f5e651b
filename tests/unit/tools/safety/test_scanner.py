"""The scanner of commands, with programs that speak as tirith does."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.safety.scanner import CRASHES, Finding, Scanner, ScannerChoice

BLOCK = {
    "schema_version": 3,
    "action": "block",
    "findings": [
        {
            "rule_id": "curl_pipe_shell",
            "severity": "HIGH",
            "title": "Pipe to interpreter: curl | sh",
        },
        {"rule_id": "shortened", "severity": "LOW", "description": "A shortened address"},
    ],
}

Program = Callable[[str], str]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Make a scanner of these shell lines; it notes each call in ``calls``."""

    def make(lines: str) -> str:
        path = tmp_path / "tirith"
        note = f'printf "%s|" "$@" >> {tmp_path}/calls; echo >> {tmp_path}/calls'
        path.write_text(f"#!/bin/sh\n{note}\n{lines}\n", encoding="utf-8")
        path.chmod(0o700)
        return str(path)

    return make


@pytest.fixture
def scan(told, tmp_path) -> Callable[..., Finding | None]:
    """Ask one scanner, in a session of its own."""
    scanner = Scanner()

    def ask(program: str, command: str = "ls", **choice: object) -> Finding | None:
        chosen = ScannerChoice(program=program, **choice)
        return scanner.scan(command, str(tmp_path), chosen, told.append)

    return ask


def test_it_is_asked_as_tirith_is(scan, program, tmp_path):
    assert scan(program("exit 0"), "echo 'a  b'; ls") is None
    asked = (tmp_path / "calls").read_text(encoding="utf-8")
    assert asked == "check|--json|--non-interactive|--shell|posix|--|echo 'a  b'; ls|\n"


@pytest.mark.parametrize(("code", "said"), [(1, "is blocked by"), (2, "draws a warning from")])
def test_its_exit_code_is_its_verdict_and_its_json_says_why(scan, program, code, said):
    (found := scan(program(f"echo '{json.dumps(BLOCK)}'; exit {code}"))) or pytest.fail("nothing")
    why = "Pipe to interpreter: curl | sh (high); A shortened address (low)"
    assert found.reason == f"{said} tirith: {why}"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("two\nlines", "two; lines"),
        ('{"summary": "1 warning", "findings": []}', "1 warning"),
        ('{"findings": "odd"}', ""),
        ("[1, 2]", "[1, 2]"),
        ("\x1b[31mred\x07", "[31mred"),
        ("", ""),
    ],
)
def test_other_output_is_read_as_well_as_can_be(scan, program, tmp_path, output, reason):
    (tmp_path / "said").write_text(output, encoding="utf-8")
    found = scan(program(f"cat {tmp_path}/said; exit 2"))
    assert found.reason == "draws a warning from tirith" + (f": {reason}" if reason else "")


def test_a_long_reason_is_cut(scan, program):
    assert len(scan(program("yes why | head -c 100000; exit 1")).reason) < 400


@pytest.mark.parametrize("failing", ["exit 3", "exit 101", "kill -SEGV $$", "kill -9 $$"])
def test_a_crash_lets_commands_run_or_asks_as_the_user_chose(scan, program, failing):
    assert scan(program(failing)) is None
    assert "was not scanned" in scan(program(failing), fail_open=False).reason


def test_it_is_ended_with_all_it_started_when_its_time_is_over(scan, program, tmp_path):
    lines = f"sleep 60 & echo $! > {tmp_path}/child; sleep 60"
    began = time.monotonic()
    assert scan(program(lines), timeout=0.5, fail_open=False).reason.endswith("0.5 s")
    assert time.monotonic() - began < 5
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    status = Path(f"/proc/{child}/stat")
    assert not status.exists() or ") Z " in status.read_text(encoding="utf-8")


@pytest.mark.parametrize("fail_open", [True, False])
def test_three_failures_in_a_row_switch_it_off_and_are_told_once(
    scan, program, told, tmp_path, fail_open
):
    bad = program("exit 9")
    results = [scan(bad, fail_open=fail_open) for _ in range(CRASHES + 3)]
    assert all((found is None) is fail_open for found in results)
    assert len((tmp_path / "calls").read_text(encoding="utf-8").splitlines()) == CRASHES
    assert len(told) == 1
    assert "failed 3 times in a row (ended with exit code 9)" in told[0]


def test_an_answer_in_between_counts_the_failures_anew(scan, program, told):
    for lines in ("exit 9", "exit 9", "exit 1", "exit 9", "exit 9"):
        scan(program(lines))
    assert scan(program("exit 1")) is not None
    assert not told


def test_a_missing_one_is_told_once_and_no_obstacle(scan, told, tmp_path):
    missing = str(tmp_path / "none")
    assert scan(missing) is None
    assert scan(missing) is None
    assert told == [f"there is no scanner {missing!r}: commands run unscanned"]
    assert "there is no none" in scan(missing, fail_open=False).reason


def test_by_itself_only_what_is_there_is_used(scan, program, told, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert scan("auto") is None
    assert not told
    path = program("exit 1")
    assert scan("auto", places=(path,)) is not None
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert scan("auto") is not None
    assert scan("off") is None


@pytest.mark.parametrize("command", ["echo " + "a" * 200_000, "a\0b"])
def test_what_cannot_be_given_to_it_is_asked_about(scan, program, command):
    assert "cannot be scanned" in scan(program("exit 0"), command).reason


def test_it_gets_no_key_of_ours(scan, program, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123456789abcdef")
    scan(program(f"env > {tmp_path}/env"))
    assert "sk-0123" not in (tmp_path / "env").read_text(encoding="utf-8")


def test_a_folder_that_is_gone_is_no_failure(program, told):
    choice = ScannerChoice(program=program("exit 1"))
    assert Scanner().scan("ls", "/no/such/folder", choice, told.append) is not None
