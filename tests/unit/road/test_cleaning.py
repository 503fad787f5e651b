"""Answers are mended and masked, and JSON stays what it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.road.cleaning import cleaned

KEY = "sk-" + "a1B2" * 12
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "form", ["{}", "line\n{}", '{{"output": "a\\n{}"}}', '["\\t{}"]', '"\\n{}"']
)
def test_a_key_is_masked_wherever_it_stands(form):
    clean = cleaned(form.format(KEY))
    assert KEY not in clean
    assert "«redacted:sk-…»" in clean


@pytest.mark.parametrize(
    "value",
    [
        {"output": "authorization:\nabcdefgh12 -----BEGIN PRIVATE KEY-----\nabc", "exit_code": 3},
        {"password": "correct horse battery", "nested": [{"api_key": "0123456789abcdef"}]},
        {"token": 123456789012345, "Authorization": "Basic dXNlcjpwYXNz"},
    ],
)
def test_masked_json_is_json_of_the_same_shape(value):
    clean = json.loads(cleaned(json.dumps(value)))
    assert clean.keys() == value.keys()
    assert clean != value
    assert clean.get("exit_code") == value.get("exit_code")


@pytest.mark.parametrize(
    "form", ['{"a": 1e2,  "b":"x-y_z"}', "[1, 2", "NaN", '{"max_tokens": 512}']
)
def test_what_needs_no_mask_is_left_to_the_letter(form):
    assert cleaned(form) == form


@given(VALUES)
def test_json_stays_json(value):
    text = json.dumps({"token": value, "x": [value]})
    assert json.loads(cleaned(text)).keys() == {"token", "x"}


@given(st.text() | st.text(st.characters(categories=["Cs", "Ll"])))
def test_any_text_can_be_sent_afterwards(text):
    cleaned(text).encode()


def test_depth_is_no_danger():
    text = "[" * 900 + f'"{KEY}"' + "]" * 900
    assert KEY not in cleaned(text)
    assert KEY not in cleaned("[" * 90_000 + f'"{KEY}"' + "]" * 90_000)
