import json
import os

import pytest

from hermes_jupyter.calls import ApprovalRequest, ToolCall
from hermes_jupyter.events import ApprovalResolved, TurnStarted
from hermes_jupyter.store.audit import AuditLog

STARTED = TurnStarted(session="main", turn="t1", prompt="", model="m", steps=9)


def resolved(shown="rm a", decision="once", by="widget", **about):
    call = ToolCall(id="1", name="terminal", args={"command": shown})
    request = ApprovalRequest(
        id="r", call=call, reason="deletes a", shown=shown, cwd="/w", grant="this", digest="d",
        effects=("deletes a",), rule="terminal(rm a)",
    )  # fmt: skip
    return ApprovalResolved(request=request, decision=decision, by=by, **about)


def write(log, *events, warn=lambda text: None):
    hear = log.listener(warn)
    for event in (STARTED, *events):
        hear(event)


def test_a_decision_is_a_line(tmp_path):
    log = AuditLog(tmp_path, "main")
    write(log, resolved(decision="deny", note="keep it"), resolved("rm b", by="rule", note="x(y)"))
    first, second = map(json.loads, log.path.read_text().splitlines())
    told = ("session", "turn", "tool", "shown", "reason", "effects", "decision", "by", "note")
    assert [first[name] for name in told] == [
        "main", "t1", "terminal", "rm a", "deletes a", ["deletes a"], "deny", "widget", "keep it",
    ]  # fmt: skip
    assert (second["rule"], second["note"]) == ("x(y)", "")
    assert os.stat(log.path).st_mode & 0o777 == 0o600  # noqa: PTH116


def test_no_secret_is_in_it(tmp_path):
    key = "sk-" + "a1B2" * 12
    log = AuditLog(tmp_path, "main")
    write(log, resolved(f"curl -H 'Authorization: Bearer {key}' example.org", note=key, edited=key))
    write(log, resolved("x" * 3_990 + f" {key}"))
    text = log.path.read_text()
    assert key not in text
    assert key[:12] not in text


def test_it_is_turned_over_when_it_is_long_and_three_old_ones_are_kept(tmp_path):
    log = AuditLog(tmp_path, "main", most_bytes=2_000)
    for number in range(60):
        write(log, resolved(f"rm {number}"))
    files = sorted(path.name for path in log.path.parent.glob("*.jsonl"))
    assert files == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"]
    assert [entry["shown"] for entry in log.last(12)] == [f"rm {n}" for n in range(48, 60)]


def test_a_disk_that_takes_nothing_is_told_once(tmp_path):
    (tmp_path / "jupyter").write_text("in the way")
    told = []
    write(AuditLog(tmp_path, "main"), resolved(), resolved(), warn=told.append)
    assert len(told) == 1
    assert "not recorded" in told[0]


@pytest.mark.parametrize("broken", ["{", "[]", '{"time": 1}', "\x00"])
def test_a_broken_line_hides_no_other(tmp_path, broken):
    log = AuditLog(tmp_path, "main")
    write(log, resolved())
    with log.path.open("a") as file:
        file.write(f"{broken}\n")
    assert [entry["shown"] for entry in log.last(5)] == ["rm a"]
