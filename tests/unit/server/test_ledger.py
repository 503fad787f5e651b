import json
from datetime import date

import pytest

from hermes_jupyter.server.ledger import Ledger, Limits, NoBudget, Took

TODAY = date(2026, 11, 30)
ONE = Took(calls=1, read=80, written=20, cost=0.6)
FREE = Took()


def ledger(home, today=TODAY, **limits):
    return Ledger(home, Limits(**limits), lambda: today)


def ask(book, kernel="k", took=ONE, guess=FREE):
    book.admit(kernel, guess, has_price=True)
    book.settle(kernel, guess, "m", took)


@pytest.mark.parametrize("limit", [{"tokens": 150}, {"cost": 1.0}, {"cost_of_all": 1.0}])
def test_the_call_after_the_last_that_fits_is_refused(tmp_path, limit):
    book = ledger(tmp_path, **limit)
    ask(book)
    ask(book)
    with pytest.raises(NoBudget, match="used up"):
        ask(book)


def test_each_kernel_has_its_own_budget_and_all_have_one(tmp_path):
    book = ledger(tmp_path, cost=0.5, cost_of_all=1.0)
    ask(book, "a")
    ask(book, "b")
    with pytest.raises(NoBudget, match="the server's"):
        ask(book, "c")


def test_calls_side_by_side_cannot_take_the_same_dollar(tmp_path):
    book = ledger(tmp_path, cost=1.0)
    book.admit("k", Took(cost=1.0), has_price=True)
    with pytest.raises(NoBudget):
        book.admit("k", FREE, has_price=True)
    book.settle("k", Took(cost=1.0), "m", FREE)
    book.admit("k", FREE, has_price=True)


def test_a_new_server_goes_on_with_the_budget(tmp_path):
    ask(ledger(tmp_path))
    book = ledger(tmp_path, cost=0.5)
    with pytest.raises(NoBudget):
        ask(book)
    ask(ledger(tmp_path, date(2026, 12, 1), cost=0.5))


def test_a_file_that_was_made_smaller_gives_no_new_budget(tmp_path):
    book = ledger(tmp_path, cost=1.0)
    ask(book)
    (tmp_path / "jupyter" / "server-usage.json").write_text("{}")
    ask(book)
    with pytest.raises(NoBudget):
        ask(book)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"2026-11-30": 7}', '{"2026-11-30": {"k": {}}}'])
def test_a_broken_file_is_begun_anew(tmp_path, text):
    (tmp_path / "jupyter").mkdir()
    (tmp_path / "jupyter" / "server-usage.json").write_text(text)
    book = ledger(tmp_path, cost=1.0)
    ask(book)
    assert [each["calls"] for each in book.told()] == [1]


def test_a_budget_in_dollars_needs_a_price(tmp_path):
    with pytest.raises(NoBudget, match=r"HermesServer\.prices"):
        ledger(tmp_path, cost=1.0).admit("k", FREE, has_price=False)
    ledger(tmp_path, tokens=10).admit("k", FREE, has_price=False)


def test_the_file_is_for_the_user_alone_and_forgets(tmp_path):
    ask(ledger(tmp_path, date(2026, 6, 1)))
    ask(ledger(tmp_path))
    path = tmp_path / "jupyter" / "server-usage.json"
    assert path.stat().st_mode & 0o77 == 0
    assert [*json.loads(path.read_text())] == ["2026-11-30"]
