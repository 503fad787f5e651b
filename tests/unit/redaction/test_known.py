from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from hermes_jupyter import redaction
from hermes_jupyter.redaction import is_suspicious, redact, redact_command
from hermes_jupyter.redaction.known import KnownValues

VALUE = "Zq7" + "wörd/x+1"


@pytest.fixture(autouse=True)
def known(monkeypatch) -> Iterator[KnownValues]:
    monkeypatch.setenv("SERVICE_KEY", VALUE)
    redaction.KNOWN.refresh()
    yield redaction.KNOWN
    monkeypatch.undo()
    redaction.KNOWN.refresh()


@pytest.mark.parametrize(
    "written", [VALUE, json.dumps(VALUE), quote(VALUE, safe=""), f"see{VALUE}there", f"\\n{VALUE}"]
)
def test_the_value_of_a_secret_variable_is_masked_however_it_is_written(written):
    assert is_suspicious(written)
    assert VALUE[:4] not in redact(written)
    assert "«redacted:$SERVICE_KEY…»" in redact(written)


def test_a_variable_that_is_set_later_is_known_from_the_next_reading_on(known, monkeypatch):
    monkeypatch.setenv("LATE_TOKEN", "qwert-98765")
    assert redact("qwert-98765") == "qwert-98765"
    known.refresh()
    assert redact("qwert-98765") == "«redacted:$LATE_TOKEN…»"


def test_what_was_entered_as_a_password_is_masked_and_a_very_short_one_is_not(known):
    known.add_password("open sesame")
    known.add_password("ab")
    assert redact("open sesame, abc") == "«redacted:password…», abc"


def test_a_long_secret_is_masked_before_one_that_is_a_part_of_it(known):
    known.refresh({"A_TOKEN": "longer-1234567", "B_TOKEN": "longer-1"})
    assert redact("longer-1234567") == "«redacted:$A_TOKEN…»"


def test_a_person_who_approves_sees_what_a_shell_acts_on():
    hidden = 'PASSWORD="abc; rm -rf ~; 123" TOKEN=f3ab91c07d24 curl x'
    assert redact_command(hidden) == hidden.replace("f3ab91c07d24", "«redacted:value…»")
