import asyncio
import json
import logging
import threading

import pytest

from hermes_jupyter.agent.models.prices import Price
from hermes_jupyter.agent.models.providers import CUSTOM
from hermes_jupyter.server.ledger import Ledger, Limits
from hermes_jupyter.server.offered import Offered
from hermes_jupyter.server.passing import NotPassed, Passing
from hermes_jupyter.testing.stub_server import StubServer

KEY = "sk-of-the-server-0123456789"
PRICE = Price(read=1.0, cached=1.0, written=1.0, source="test")
USAGE = {"usage": {"prompt_tokens": 3, "completion_tokens": 2}}
SAID = {"model": "small", "messages": [{"role": "user", "content": "hello"}]}


class Through:
    """Asks a stub through the server's pass-through."""

    def __init__(self, home, answer, caplog, **model):
        self.home, self.answer, self.model = home, answer, model
        self.kind, self.got, self.caplog = "", b"", caplog

    def ask(self, told=SAID, api="chat", times=1, leave=None, **limits):
        with StubServer(self.answer) as stub:
            body = json.dumps(told).encode()
            self.outcomes = asyncio.run(self._asked(stub, body, api, times, leave, limits))
            self.requests, self.keys = stub.requests, stub.keys
        return self

    async def _asked(self, stub, body, api, times, leave, limits):
        about = {
            "name": "small", "model": "their-name", "provider": CUSTOM, "base_url": stub.url,
            "key": KEY, "price": PRICE, **self.model,
        }  # fmt: skip
        self.ledger = Ledger(self.home, Limits(**limits))
        log = logging.getLogger("test-passing")
        passing = Passing({"small": Offered(**about)}, self.ledger, in_thread, log)
        try:
            asked = passing.read("k", api, body)
            if times > 1:  # one, and then the others at once
                await passing.answer(asked, self._begin, self._send)
                asking = (passing.answer(asked, self._begin, self._send) for _ in range(times - 1))
                return await asyncio.gather(*asking, return_exceptions=True)
            task = asyncio.create_task(passing.answer(asked, self._begin, self._send))
            if leave is not None:
                await asyncio.to_thread(leave)
                task.cancel()
            await task
        finally:
            await passing.close()

    def _begin(self, kind):
        self.kind = kind

    async def _send(self, block):
        self.got += block


async def in_thread(job):
    job()


@pytest.fixture
def through(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    return lambda answer, **model: Through(tmp_path, answer, caplog, **model)


def answers(exchange):
    exchange.send_json({"choices": [], **USAGE})


def fails(status, message="no", **headers):
    return lambda exchange: exchange.send_error(status, message, **headers)


def test_the_provider_gets_the_key_and_its_own_name_for_the_model(through):
    done = through(answers).ask()
    assert done.keys == [f"Bearer {KEY}"]
    assert done.requests[0][1] == {**SAID, "model": "their-name"}
    assert json.loads(done.got) == {"choices": [], **USAGE}
    assert done.kind == "application/json"


def test_a_stream_is_asked_to_tell_what_it_took(through):
    done = through(answers, model="small").ask({**SAID, "stream": True})
    assert done.requests[0][1]["stream_options"] == {"include_usage": True}
    assert done.kind == "text/event-stream"


def test_the_responses_interface_goes_its_own_way(through):
    done = through(answers).ask({"model": "small", "input": "hi"}, api="responses")
    assert done.requests[0][0].endswith("/v1/responses")


def test_what_was_taken_is_noted_and_logged_without_what_was_said(through):
    done = through(answers).ask()
    (row,) = done.ledger.told()
    assert (row["kernel"], row["model"], row["read"], row["written"]) == ("k", "small", 3, 2)
    assert "kernel k asked small (chat): done, 3 tokens read" in done.caplog.text
    assert "hello" not in done.caplog.text
    assert KEY not in done.caplog.text


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_is_the_servers_business(through, status):
    with pytest.raises(NotPassed) as failed:
        through(fails(status, f"bad key {KEY}")).ask()
    assert failed.value.status == 502
    assert KEY not in json.dumps(failed.value.body)
    assert "the key that the server has" in json.dumps(failed.value.body)


def test_other_failures_come_through_without_the_key(through):
    with pytest.raises(NotPassed) as failed:
        through(fails(429, f"slow down, {KEY}", retry_after="7")).ask()
    assert (failed.value.status, failed.value.headers["retry-after"]) == (429, "7")
    said = failed.value.body["error"]["message"]
    assert said == "slow down, «key of the server»"


def test_an_answer_that_repeats_the_key_is_shown_without_it(through):
    """As gateways do that put a failure, with the headers that they sent, into a stream."""

    def echo(exchange):
        exchange.begin_stream()
        said = f'data: {{"error": "Authorization: {exchange.headers["Authorization"]}"}}\n\n'
        for at in range(0, len(said), 5):
            exchange.send_chunk(said[at : at + 5].encode())
        exchange.end_stream()

    done = through(echo).ask({**SAID, "stream": True})
    assert json.loads(done.got.removeprefix(b"data:"))["error"] == (
        "Authorization: Bearer «key of the server»"
    )
    assert KEY not in done.caplog.text


def test_a_key_goes_to_no_other_address(through):
    """Nor with the second request, which goes another way than the first."""
    for late in (0, 1):
        with StubServer(answers) as elsewhere:

            def away(exchange, there=elsewhere, late=late):
                if len(exchange.stub.requests) > late:
                    exchange.send(b"", status=307, headers={"Location": f"{there.url}/taken"})
                else:
                    answers(exchange)

            asked = through(away).ask(times=2)
        assert asked.keys == [f"Bearer {KEY}"] * 2
        assert elsewhere.keys == [""] * (2 - late)


def test_a_provider_that_is_not_there_is_said_to_be(through):
    with pytest.raises(NotPassed) as failed:
        through(answers, base_url="http://127.0.0.1:9/v1").ask()
    assert failed.value.status == 502
    assert "cannot be reached" in failed.value.body["error"]["message"]


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"model": "other"}, 404),
        ({"model": None}, 404),
        ({"model": ["small"]}, 404),
        ({}, 404),
        ([], 400),
        ("text", 400),
    ],
)
def test_what_is_not_offered_never_leaves(through, told, status):
    asked = through(answers)
    with pytest.raises(NotPassed) as failed:
        asked.ask(told)
    assert failed.value.status == status
    assert asked.ledger.told() == []


def test_a_model_of_one_interface_is_not_asked_by_the_other(through):
    with pytest.raises(NotPassed, match="chat/completions"):
        through(answers, api="chat").ask(api="responses")


def test_a_spent_budget_asks_nobody(through):
    asked = through(answers)
    asked.ask(tokens=4)
    with pytest.raises(NotPassed) as failed:
        asked.ask(tokens=4)
    assert failed.value.status == 402
    assert asked.requests == [("/v1/chat/completions", {**SAID, "model": "their-name"})]


def test_a_failed_call_takes_nothing_and_leaves_nothing_under_way(through):
    asked = through(fails(500))
    for _ in range(2):
        with pytest.raises(NotPassed):
            asked.ask(tokens=1)
    assert [row["read"] for row in asked.ledger.told()] == [0]


def test_fifty_at_once_cannot_take_the_last_of_a_budget_together(through):
    asked = through(answers).ask({**SAID, "max_tokens": 100}, times=50, tokens=1_000)
    refused = [each for each in asked.outcomes if isinstance(each, NotPassed)]
    assert len(asked.requests) + len(refused) == 50  # the first was answered before the others
    assert 0 < len(asked.requests) <= 10
    assert {each.status for each in refused} == {402}


def test_who_leaves_before_an_answer_in_one_piece_has_asked_all_the_same(through):
    came = threading.Event()

    def waits(exchange):
        came.set()
        exchange.stub.stopping.wait(20)

    asked = through(waits)
    with pytest.raises(asyncio.CancelledError):
        asked.ask(leave=came.wait)
    (row,) = asked.ledger.told()
    assert row["read"] > 0
    assert "kernel k asked small (chat): ended" in asked.caplog.text
