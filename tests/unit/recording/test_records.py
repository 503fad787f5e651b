import json

import pytest

from hermes_jupyter.canonical import prompt_sha256
from hermes_jupyter.events import TurnRecorded
from hermes_jupyter.recording.encoding import as_json
from hermes_jupyter.recording.records import record_in
from hermes_jupyter.recording.schema import fault, schema
from hermes_jupyter.views.record import MIME, Record


def bundle_of(recording, *more):
    record = Record()
    for event in [*recording.events[:-1], *more, recording.events[-1]]:
        record(event)
    return record.bundle()


def test_every_record_fits_the_schema_that_the_package_has(recording):
    turn = bundle_of(recording)[MIME]
    assert fault(turn, "turn-v2") == ""
    assert schema("turn-v2")["properties"]["v"] == {"const": turn["v"]}


def test_it_says_what_the_answer_depends_on(recording):
    turn = bundle_of(recording)[MIME]
    assert turn["prompt_sha256"] == prompt_sha256("  Delete the logs\n")
    assert (turn["model"], turn["tools"]) == ("m", ["read_file", "terminal"])
    assert turn["depends_sha256"] == recording.depends_sha256


def test_the_recording_is_a_part_of_it(recording):
    content = as_json(recording)
    told = TurnRecorded(content=content, sha256=content["sha256"], size=9)
    turn = bundle_of(recording, told)[MIME]
    assert turn["recording"] == content
    assert fault(turn, "turn-v2") == ""
    named = TurnRecorded(file="hermes-recordings/x.json", sha256=content["sha256"], size=9)
    turn = bundle_of(recording, named)[MIME]
    assert turn["recording"]["file"] == "hermes-recordings/x.json"
    assert fault(turn, "turn-v2") == ""


def test_records_of_version_1_are_still_read(recording):
    old = bundle_of(recording)[MIME]
    for name in ("after", "cell", "line", "depends_sha256", "tools"):
        del old[name]
    read = record_in({MIME: {**old, "v": 1}, "text/html": "x"})
    assert read is not None
    assert (read["v"], read["tools"], read["prompt_sha256"]) == (2, [], old["prompt_sha256"])


@pytest.mark.parametrize(
    "change",
    [{"v": 3}, {"v": None}, {"v": "2"}, {"events": "x"}, {"prompt_sha256": "x"}, {"usage": []},
     {"recording": {"file": 3}}, {"recording": [1]}, {"status": "great"}],
)  # fmt: skip
def test_newer_and_broken_records_leave_it_to_the_html(change, recording):
    bundle = bundle_of(recording)
    assert record_in({**bundle, MIME: {**bundle[MIME], **change}}) is None
    assert "<" in bundle["text/html"]


@pytest.mark.parametrize("bundle", [{}, {MIME: "text"}, {MIME: None}, {MIME: []}])
def test_outputs_without_a_record_have_none(bundle):
    assert record_in(bundle) is None


def test_the_same_turn_makes_the_same_bytes(recording, make):
    one, other = (json.dumps(bundle_of(each)) for each in (recording, make()))
    assert one == other
