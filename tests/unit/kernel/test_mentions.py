"""``@name`` in a prompt."""

from __future__ import annotations

import pytest

from hermes_jupyter.kernel.mentions import as_meant

NAMES = {"rows": [1, 2], "x": 3, "api_key": "sk-" + "abcDEF123456" * 3, "odd": "{x} @rows"}


def test_the_name_stays_and_what_it_is_stands_below():
    said = as_meant("Sum @rows, then (@x). Again @rows.", NAMES)
    assert said == (
        "Sum @rows, then (@x). Again @rows.\n\n"
        "[Variables of the user's that this mentions:\nrows: [1, 2]\nx: 3]"
    )


@pytest.mark.parametrize("text", ["bob@rows.org", "@nobody", "a@x", "@", "\\@", "@property", "no"])
def test_what_mentions_no_variable_stays_as_it_is(text):
    assert as_meant(text, NAMES) == text


def test_braces_are_values_as_before_and_values_are_data():
    assert as_meant("{x} and {odd}", NAMES) == "3 and {x} @rows"
    assert as_meant("@odd", NAMES).endswith("odd: '{x} @rows']")


def test_a_secret_is_hidden():
    assert NAMES["api_key"] not in as_meant("Use @api_key", NAMES)
    assert "hidden" in as_meant("Use @api_key", NAMES)


def test_an_object_of_the_users_is_not_asked_for_its_repr():
    class Costly:
        def __repr__(self):
            raise AssertionError

    assert "Costly" in as_meant("@thing", {"thing": Costly()})
