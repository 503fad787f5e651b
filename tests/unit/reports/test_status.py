"""Which model answers."""

import pytest

from hermes_jupyter.reports.status import model_line
from hermes_jupyter.settings import Settings

URL = "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    ("model", "profile", "expected"),
    [
        ("gpt-5-mini", "auto", f"gpt-5-mini at {URL}"),
        ("qwen3:1.7b", "auto", f"qwen3:1.7b at {URL}, helped as a small model"),
        ("qwen3:1.7b", "full", f"qwen3:1.7b at {URL}"),
    ],
)
def test_it_is_said_whether_a_model_is_helped(model, profile, expected):
    assert model_line(Settings(model=model, base_url=URL, profile=profile)) == expected


def test_before_the_first_turn_the_model_of_the_server_is_not_taken_for_one_here():
    said = model_line(Settings(via_server=True))
    assert said == "the first of the server, through the Jupyter server"
    own = Settings(via_server=True, model="m", base_url=URL)
    assert model_line(own).startswith("m at ")
