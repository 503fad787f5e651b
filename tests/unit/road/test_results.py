"""The shape of answers: kept whole where they are cut, quick where they are short."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.road import results
from hermes_jupyter.road.results import Shaped, exit_code_of, shaped_here, status_of
from tools.registry import tool_error, tool_result


class Kept:
    """A place to keep texts in."""

    def __init__(self):
        self.texts = {}
        self.sources = {}

    def keep(self, text, source=""):
        handle = f"r{len(self.texts) + 1}"
        self.texts[handle], self.sources[handle] = text, source
        return handle


def test_of_a_short_answer_nothing_is_kept():
    kept = Kept()
    assert shaped_here("hello", 100, kept) == Shaped("hello")
    assert kept.texts == {}


@given(st.text(min_size=1), st.integers(1, 3_000), st.integers(600, 3_000))
def test_what_is_cut_is_kept_to_the_letter(piece, times, limit):
    kept, text = Kept(), tool_result(output=piece * times, exit_code=0)
    answer = shaped_here(text, limit, kept)
    assert len(answer.text) <= max(limit, len(text) * (not answer.handle))
    assert json.loads(answer.text)["exit_code"] == 0
    if answer.handle:
        assert json.loads(kept.texts[answer.handle]) == json.loads(results.cleaned(text))
        assert answer.total_chars == len(json.loads(kept.texts[answer.handle])["output"])


def test_what_is_kept_has_no_secrets_and_knows_where_it_is_from():
    kept, key = Kept(), "sk-" + "a1B2" * 12
    text = "line\n" * 100_000 + key + "\nline" * 100_000
    answer = shaped_here(text, 10_000, kept, "web_search")
    assert key not in kept.texts[answer.handle]
    assert kept.sources == {answer.handle: "web_search"}
    assert "characters in 200,001 lines" in answer.text


def test_with_no_place_to_keep_it_the_model_is_told_how_to_ask_for_less():
    answer = shaped_here("word " * 10_000, 1_000)
    assert (answer.handle, answer.total_chars) == ("", 50_000)
    assert "ask for less" in answer.text


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("error", "ok", 0),
        (tool_error("no"), "error", 0),
        (tool_result(output='"error": "x"', exit_code=0, error=None), "ok", 0),
        (tool_result(output="", exit_code=2, error=None), "ok", 2),
        (tool_result(error="bad", exit_code=1), "error", 1),
        (tool_result(error=None, more={"error": "inner"}), "ok", 0),
        ('{"error":null,"exit_code":5}', "ok", 5),
        ('{"exit_code": true}', "ok", 1),
        ('["error", "exit_code"]', "ok", 0),
        ('{"error": ', "ok", 0),
    ],
)
def test_status_and_exit_code_are_what_the_object_says(text, status, code):
    assert (status_of(text), exit_code_of(text)) == (status, code)


def test_everyday_answers_are_not_read_as_json(monkeypatch):
    monkeypatch.setattr(results, "json_object", lambda text: pytest.fail("was read"))
    text = tool_result(output="fine", exit_code=0, error=None)
    assert (status_of(text), exit_code_of(text)) == ("ok", 0)
    assert shaped_here(text, 1_000).text == text
