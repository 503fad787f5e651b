import threading

import pytest

from hermes_jupyter.errors import ModelError
from hermes_jupyter.kernel.control import Refusal
from hermes_jupyter.settings import Settings
from hermes_jupyter.testing.stub_server import StubServer
from hermes_jupyter.via_server import ServerModels

MODELS = [
    {"name": "small", "provider": "openai", "api": "", "context_window": 5, "price": None},
    {"name": "dear", "provider": "openai", "api": "responses",
     "price": {"input": 1.0, "output": 2.0, "cached_input": 0.5}},
]  # fmt: skip


class Server:
    """Hands over what it is told to, when somebody knocks."""

    def __init__(self, models=MODELS, **lease):
        self.lease = {"token": "hermes-lease-x", "seconds": 60, **lease}
        self.models, self.knocks = models, []

    def __enter__(self):
        self._stub = StubServer(self.answer).__enter__()
        self.url = self._stub.url.removesuffix("v1")
        self.kernel = ServerModels("the-kernel", lambda: False)
        return self

    def __exit__(self, *about):
        self._stub.__exit__(*about)

    def answer(self, exchange):
        self.knocks.append(exchange.body)
        nonce = exchange.body["nonce"]
        told = {"nonce": nonce, "models": self.models, **self.lease}
        threading.Thread(target=self.kernel.take, args=(told,)).start()
        exchange.send_json({}, status=202)

    def settings(self, **about):
        return Settings(server_url=self.url, **about)


def test_the_settings_name_the_servers_model_and_the_token():
    with Server() as server:
        assert server.kernel.use(server.settings()) == ["small", "dear"]
        found = server.kernel.over(server.settings())
    assert (found.model, found.api_key, found.provider) == ("small", "hermes-lease-x", "openai")
    assert found.base_url == f"{server.url}hermes/v1"
    assert found.context_window == 5
    assert server.knocks[0]["kernel"] == "the-kernel"


def test_prices_of_the_server_count_unless_the_user_has_others():
    with Server() as server:
        server.kernel.use(server.settings())
        assert server.kernel.over(server.settings(model="dear")).prices["dear"]["output"] == 2.0
        own = {"dear": {"input": 9.0, "output": 9.0}}
        assert server.kernel.over(server.settings(model="dear", prices=own)).prices == own


def test_a_turn_asks_again_only_when_the_token_runs_out():
    with Server(seconds=1) as server:
        server.kernel.use(server.settings())
        server.kernel.ready(server.settings())
        assert len(server.knocks) == 2
        server.lease["seconds"] = 60
        server.kernel.ready(server.settings())
        server.kernel.ready(server.settings())
        assert len(server.knocks) == 3


def test_a_server_that_hides_keys_is_used_by_itself_unless_there_is_an_endpoint():
    with Server() as server:
        server.kernel.ready(server.settings(via_server=True, api_key="sk-own"))
        assert not server.kernel.in_use
        server.kernel.ready(server.settings(via_server=True))
        assert server.kernel.in_use


def test_nobody_can_hand_over_what_was_not_asked_for():
    with Server() as server:
        told = {"nonce": "guessed", "models": MODELS, "token": "x", "seconds": 9}
        with pytest.raises(Refusal, match="not asked"):
            server.kernel.take(told)


@pytest.mark.parametrize(
    "wrong", [{"models": "x"}, {"seconds": "9"}, {"token": 7}, {"nonce": None}, {"url": "evil"}]
)
def test_a_lease_that_is_none_is_refused(wrong):
    told = {"nonce": "n", "models": MODELS, "token": "x", "seconds": 9, **wrong}
    with pytest.raises(Refusal):
        ServerModels("k", lambda: False).take(told)


def test_a_server_without_models_says_what_to_set():
    with Server(models=[]) as server, pytest.raises(ModelError, match=r"HermesServer\.models"):
        server.kernel.use(server.settings())
    assert not server.kernel.in_use


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9/", "nonsense"])
def test_without_such_a_server_nothing_changes(url):
    kernel = ServerModels("k", lambda: False)
    with pytest.raises(ModelError):
        kernel.use(Settings(server_url=url))
    assert kernel.over(Settings(model="m")) == Settings(model="m")
