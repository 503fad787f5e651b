"""The second request to a server goes a shorter way, and says and hears what the first one does."""

import asyncio
import re

import pytest

from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.errors import ModelError
from hermes_jupyter.testing.stub_server import StubServer

ASKED = [{"role": "user", "content": "go"}]


class Server:
    """Answers in the order of ``answers``: a text, or a function of the exchange."""

    def __init__(self):
        self.answers = []
        self.headers = []

    def __call__(self, exchange):
        self.headers.append({name.lower(): value for name, value in exchange.headers.items()})
        answer = self.answers.pop(0)
        if callable(answer):
            answer(exchange)
        else:
            exchange.begin_stream()
            exchange.send_event({"choices": [{"delta": {"content": answer}}]})
            exchange.send_event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
            exchange.send_event("[DONE]")
            exchange.end_stream()


@pytest.fixture
def play():
    """Ask one model, as often as there are answers if not said; what came of each time."""
    server = Server()

    def work(*answers, asks=0, **options):
        server.answers = [*answers]
        server.headers = []

        async def main(url):
            model = OpenAIModel("m", base_url=url, api_key="key-1", **options)
            said = []
            for _ in range(asks or len(answers)):
                try:
                    said.append((await model.reply(ASKED, (), lambda _: None)).text)
                except ModelError as error:
                    said.append(error)
            await model.close()
            return said

        with StubServer(server) as stub:
            said = asyncio.run(main(stub.url))
            return said, server.headers, stub.requests

    return work


def refusal(status, **headers):
    return lambda exchange: exchange.send_error(status, f"it is {status}", **headers)


def test_it_says_the_same_but_for_what_describes_the_machine(play):
    said, (first, second), requests = play("one", "two")
    assert said == ["one", "two"]
    about_machine = {name for name in first if name.startswith("x-stainless-")}
    assert first.keys() - second.keys() == about_machine
    for name in ("authorization", "content-type", "accept", "user-agent", "content-length"):
        assert second[name] == first[name]
    assert requests[0] == requests[1]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503])
def test_a_refusal_reads_as_that_of_a_first_request(play, status):
    def listing(exchange):
        exchange.send_json({"data": []})

    refused, more = refusal(status, retry_after="7"), [listing] if status == 404 else []
    (first,), _, _ = play(refused, *more, asks=1)
    (_, second), _, _ = play("one", refused, *more, asks=2)
    assert (without_port(second), second.kind) == (without_port(first), first.kind)
    assert second.retry_after == first.retry_after


def without_port(error):
    """Each server has a port of its own."""
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", str(error))


def test_a_body_that_is_no_json_is_read_as_well(play):
    def gateway(exchange):
        exchange.send(b"<html>502 Bad Gateway</html>", status=502, content_type="text/html")

    (_, error), _, _ = play("one", gateway)
    assert error.kind == "server"


def test_a_field_that_the_server_does_not_know_is_left_out(play):
    def unknown(exchange):
        exchange.send_error(400, "unknown field: stream_options")

    said, _, requests = play("one", unknown, "two", asks=2)
    assert said == ["one", "two"]
    assert ["stream_options" in body for _, body in requests] == [True, True, False]


def test_a_cookie_that_the_server_sets_comes_back(play):
    def with_cookie(exchange):
        exchange.send(
            b'{"choices": [{"message": {"content": "one"}, "finish_reason": "stop"}]}',
            headers={"Set-Cookie": "route=7; Path=/"},
        )

    said, (_, second, third), _ = play(with_cookie, "two", "three")
    assert said == ["one", "two", "three"]
    assert second["cookie"] == third["cookie"] == "route=7"


def test_a_connection_that_breaks_is_a_failed_connection(play):
    def hang_up(exchange):
        exchange._handler.connection.close()

    (_, error, said), _, _ = play("one", hang_up, "three")
    assert (error.kind, error.retryable) == ("connection", True)
    assert said == "three"


def test_a_server_that_is_silent_is_noticed(play):
    (_, error), _, _ = play("one", lambda exchange: exchange.stub.stopping.wait(3), timeout=0.3)
    assert error.kind == "timeout"


def test_a_server_that_falls_silent_in_the_middle_is_noticed(play):
    def stalls(exchange):
        exchange.begin_stream()
        for piece in ("so", " far"):
            exchange.send_event({"choices": [{"delta": {"content": piece}}]})
        exchange.stub.stopping.wait(3)

    (_, error), _, _ = play("one", stalls, timeout=20, stall_timeout=0.3)
    assert error.kind == "broken"
    assert "nothing came for 0.3 s" in str(error)


def test_a_server_may_speak_for_longer_than_it_may_be_silent(play):
    def slowly(exchange):
        exchange.begin_stream()
        for _ in range(8):
            exchange.send_event({"choices": [{"delta": {"content": "x"}}]})
            exchange.stub.stopping.wait(0.1)
        exchange.send_event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        exchange.end_stream()

    (_, text), _, _ = play("one", slowly, timeout=20, stall_timeout=0.5)
    assert text == "x" * 8
