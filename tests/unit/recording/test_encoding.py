import json
from dataclasses import dataclass, replace

import pytest

from hermes_jupyter.canonical import digest
from hermes_jupyter.errors import RecordingError
from hermes_jupyter.events import Event, StepFinished
from hermes_jupyter.recording.encoding import as_json, of_json, of_text
from hermes_jupyter.recording.schema import fault
from hermes_jupyter.store.sessions.event_rows import KINDS


def test_a_recording_comes_back_as_it_was(recording):
    back = of_text(json.dumps(as_json(recording)))
    assert as_json(back) == as_json(recording)
    assert back.events[4].calls == recording.events[4].calls
    assert back.events[7].result.call == recording.events[7].result.call
    assert back.finished.tools == ("read_file", "terminal")


def test_it_fits_its_schema_and_is_always_the_same(recording, make):
    assert fault(as_json(recording), "recording-v1") == ""
    assert json.dumps(as_json(recording)) == json.dumps(as_json(make()))


def test_its_fingerprint_survives_a_browser(recording):
    def as_browsers_write(value):
        match value:
            case bool() | str() | None:
                return value
            case int() | float():
                number = float(value)
                return int(number) if number.is_integer() and abs(number) < 1e21 else number
            case dict():
                return {name: as_browsers_write(value[name]) for name in sorted(value)}
        return [as_browsers_write(each) for each in value]

    saved = json.dumps(as_browsers_write(as_json(recording)), indent=1)
    assert of_text(saved).turn == recording.turn


def test_numbers_that_json_does_not_know_are_words(make):
    recording = make()
    call = replace(recording.events[4].calls[0], args={"x": float("nan"), "y": float("inf")})
    batch = replace(recording.events[4], calls=(call,))
    value = as_json(replace(recording, events=(recording.events[0], batch, recording.events[-1])))
    assert json.loads(json.dumps(value, allow_nan=False)) == value
    assert of_json(value).events[1].calls[0].args == {"x": "nan", "y": "inf"}


def test_secrets_are_masked_and_broken_characters_mended(make):
    secret = "sk-proj-abcdefghij0123456789ABCDEFGHIJ"
    recording = make(prompt=f"use {secret}")
    said = StepFinished(number=1, text=f"{secret} \ud800 \u202e", reasoning=secret)
    recording = replace(recording, events=(recording.events[0], said, recording.events[-1]))
    text = json.dumps(as_json(recording), ensure_ascii=False)
    assert secret not in text
    assert text.encode("utf-8")
    assert of_text(text).events[1].text.endswith("\ufffd \u202e")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_recording_is_said_to_be_so(share, recording):
    text = json.dumps(as_json(recording))
    with pytest.raises(RecordingError, match="no JSON, or was cut"):
        of_text(text[: int(len(text) * share)])


def test_an_edited_recording_is_said_to_be_so(recording):
    value = as_json(recording)
    value["events"][3]["text"] = "I do something else."
    with pytest.raises(RecordingError, match="cut or changed"):
        of_json(value)
    value["sha256"] = "0" * 64
    with pytest.raises(RecordingError, match="cut or changed"):
        of_json(value)


def test_one_of_a_newer_program_says_what_to_do(recording):
    with pytest.raises(RecordingError, match="pip install -U"):
        of_json({**as_json(recording), "v": 2})


@pytest.mark.parametrize("value", [None, [], "x", 7, {}, {"format": "other"}])
def test_what_is_none_is_refused(value):
    with pytest.raises(RecordingError, match="no recording"):
        of_json(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.pop("events"),
        lambda v: v["events"].clear(),
        lambda v: v["events"].pop(),
        lambda v: v["events"].pop(0),
        lambda v: v["events"][3].update(text=5),
        lambda v: v["events"][4].update(calls="x"),
        lambda v: v["events"][4]["calls"][0].update(args=[1]),
        lambda v: v["events"][7].pop("result"),
        lambda v: v["events"][7]["result"].update(status="fine"),
        lambda v: v["events"][5].update(decision="yes"),
        lambda v: v["events"][5].pop("request"),
        lambda v: v["events"][2].update(usage=3),
        lambda v: v["events"].insert(1, {"text": "no type"}),
        lambda v: v["events"].insert(1, 3),
        lambda v: v.update(turn="../../etc/passwd"),
        lambda v: v.update(prompt_sha256="../x"),
        lambda v: v.update(v=True),
        lambda v: v.update(v="1"),
    ],
)
def test_a_forged_recording_is_damaged_and_nothing_worse(change, forged):
    with pytest.raises(RecordingError, match="damaged"):
        of_json(forged(change))


def test_events_of_kinds_that_are_not_known_play_no_part(forged, recording):
    value = forged(lambda v: v["events"].insert(1, {"type": "Danced", "text": "x", "with": [1]}))
    assert len(of_json(value).events) == len(recording.events)


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperTold(Event):
    """What another agent did, as an event of this turn."""

    helper: str
    event: Event


def test_what_other_agents_did_comes_back_as_well(recording, monkeypatch):
    monkeypatch.setitem(KINDS, "HelperTold", HelperTold)
    inside = [HelperTold(helper="h1", event=event) for event in recording.events[3:8]]
    whole = replace(recording, events=(recording.events[0], *inside, recording.events[-1]))
    back = of_text(json.dumps(as_json(whole)))
    assert as_json(back) == as_json(whole)
    assert [type(event.event) for event in back.events[1:-1]] == [
        type(event) for event in recording.events[3:8]
    ]
    monkeypatch.delitem(KINDS, "HelperTold")
    assert len(of_text(json.dumps(as_json(whole))).events) == 2


def test_a_forged_event_inside_another_is_damaged(forged):
    inside = {"type": "HelperTold", "helper": "h", "event": {"type": "StepFinished", "text": 3}}
    with pytest.raises(RecordingError, match="damaged"):
        of_json(forged(lambda v: v["events"].insert(1, inside)))


def test_deep_and_huge_texts_are_refused():
    with pytest.raises(RecordingError):
        of_text("[" * 200_000)
    deep = '{"format": "hermes-recording", "v": 1, "x": ' + "[" * 900 + "]" * 900 + "}"
    with pytest.raises(RecordingError):
        of_text(deep)
    with pytest.raises(RecordingError, match="too many"):
        of_text(" " * (64 << 20) + "{}")


def test_the_fingerprint_does_not_depend_on_order_or_on_how_numbers_are_written():
    assert digest({"a": 1.0, "b": [2**60]}) == digest({"b": [float(2**60)], "a": 1})
    assert digest({"a": 1}) != digest({"a": True})
    assert digest({"a": 1}) != digest({"a": "1"})
    assert len(digest({"a": 10**400})) == 64


def test_arguments_keep_their_order_in_a_file_that_sorts_all_keys(make):
    recording = make()
    call = replace(recording.events[4].calls[0], args={"path": "a.txt", "content": "x", "n": 1})
    batch = replace(recording.events[4], calls=(call,))
    value = as_json(replace(recording, events=(recording.events[0], batch, recording.events[-1])))
    saved = json.dumps(value, sort_keys=True)  # as nbformat writes a notebook
    assert list(of_text(saved).events[1].calls[0].args) == ["path", "content", "n"]
    assert fault(value, "recording-v1") == ""
