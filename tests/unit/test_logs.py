from __future__ import annotations

import logging

import pytest

import hermes_jupyter
from hermes_jupyter.errors import TurnError

KEY = "sk-" + "a1B2" * 6


@pytest.mark.parametrize("name", ["hermes_jupyter.turn", "tools.files.changes"])
def test_a_secret_is_in_no_log_neither_in_the_message_nor_in_a_traceback(name, caplog):
    assert hermes_jupyter.__version__
    try:
        raise ValueError(f"the key {KEY} is wrong")
    except ValueError:
        logging.getLogger(name).exception("failed with %s", KEY)
    assert KEY not in caplog.text
    assert caplog.text.count("«redacted:sk-…»") == 2


def test_an_error_of_ours_shows_no_secret():
    error = TurnError(f"the server said {KEY}")
    assert str(error) == "the server said «redacted:sk-…»"
    assert KEY not in "".join(error._render_traceback_())
