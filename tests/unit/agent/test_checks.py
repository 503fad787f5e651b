import pytest

from hermes_jupyter.agent.checks import checked, parse_arguments, resolve_name
from hermes_jupyter.agent.models.base import RawCall

NAMES = {"read_file", "write_file", "search_files", "terminal"}


@pytest.mark.parametrize("name", ["read_file", "Read_File", "read-file", "readFile", "read file"])
def test_spelling_of_a_name_is_mended(name):
    assert resolve_name(name, NAMES) == "read_file"


@pytest.mark.parametrize("name", ["create_file", "readfiles", "remove_file", "", "file"])
def test_another_meaning_is_not(name):
    assert resolve_name(name, NAMES) is None


def test_an_unknown_name_is_answered_with_the_near_ones():
    (call,) = checked([RawCall(id="1", name="read_fil", arguments="{}")], NAMES)
    assert "Did you mean read_file" in call.error
    assert "terminal" in call.error


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_no_arguments_are_an_empty_object(text):
    assert parse_arguments(text) == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"path": "a', "character"),
        ("[1]", "must be a JSON object, not list"),
        ("null", "must be a JSON object"),
        ('{"a": 1}{"a": 2}', "Extra data"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_unreadable_arguments_say_what_is_wrong(text, says):
    with pytest.raises(ValueError, match=says):
        parse_arguments(text)


def test_raw_newlines_in_texts_are_read():
    assert parse_arguments('{"content": "a\nb"}') == {"content": "a\nb"}


def test_a_twin_in_one_step_does_not_run_twice():
    raw = [
        RawCall(id="1", name="terminal", arguments='{"a": 1, "b": 2}'),
        RawCall(id="2", name="terminal", arguments='{"b": 2, "a": 1}'),
    ]
    first, second = checked(raw, NAMES)
    assert not first.error
    assert "Same as call 1" in second.error
