"""What a call costs, and who says so."""

import pytest

from hermes_jupyter.agent.models.prices import listed_price, price_of, priced
from hermes_jupyter.agent.models.providers import LOCAL, named
from hermes_jupyter.calls import Usage

USED = Usage(
    prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000, model_calls=1
)


def test_the_table_counts_cached_tokens_for_less_and_is_dated():
    price = price_of("gpt-5-mini-2025-08-07", named("openai"), {})
    assert price.of(USED) == pytest.approx(0.6 * 0.25 + 0.4 * 0.025 + 0.1 * 2)
    assert "list prices of 20" in price.source


@pytest.mark.parametrize(
    ("model", "provider"),
    [("gpt-5-mini", "custom"), ("gpt-99", "openai"), ("gpt-5-mini", "openrouter")],
)
def test_a_price_that_nobody_says_is_none(model, provider):
    assert price_of(model, named(provider), {}) is None


def test_ones_own_price_goes_before_all_others():
    told = {"gpt-5-mini": {"input": 1.0, "output": 2.0}}
    price = price_of("gpt-5-mini", named("openai"), told)
    assert price.of(USED) == pytest.approx(1.2)
    assert price.source == "your own prices"


def test_a_known_local_server_costs_nothing_and_an_unknown_one_may():
    assert price_of("qwen", named("ollama"), {}).of(USED) == 0
    assert price_of("gpt-5", LOCAL, {}) is None


def test_a_list_of_models_names_prices_for_one_token():
    entry = {"pricing": {"prompt": "0.000001", "completion": "0.000002", "image": "0"}}
    assert listed_price(entry, "openrouter.ai").of(USED) == pytest.approx(1.2)
    assert listed_price({"pricing": {"prompt": "-1", "completion": "x"}}, "h") is None


def test_what_the_provider_reports_is_the_cost():
    price = price_of("gpt-5-mini", named("openai"), {})
    usage = priced(USED, price, 0.5, "openrouter.ai")
    assert (usage.cost, usage.price_source) == (0.5, "as openrouter.ai reports it")


def test_calls_without_a_price_are_counted_and_sources_added():
    known = priced(USED, price_of("gpt-5-mini", named("openai"), {}), None, "h")
    total = known + priced(USED, None, None, "h") + priced(USED, None, 0.25, "h")
    assert total.unpriced_calls == 1
    assert total.price_source == f"{known.price_source}; as h reports it"
