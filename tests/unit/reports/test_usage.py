"""What the calls of conversations took."""

from types import SimpleNamespace

import pytest

from hermes_jupyter.agent.usage_log import CallRecord, UsageLog
from hermes_jupyter.calls import Usage
from hermes_jupyter.reports.sessions import show_usage

FIRST = Usage(
    prompt_tokens=10_000, cached_tokens=6_300, completion_tokens=500, model_calls=1,
    cost=0.0123, price_source="list prices of 2026-08",
)  # fmt: skip
SECOND = Usage(prompt_tokens=2_000, completion_tokens=100, model_calls=1, unpriced_calls=1)


@pytest.fixture
def report(capsys):
    def report(*usages, words=()):
        log = UsageLog()
        for number, usage in enumerate(usages):
            log.add(CallRecord(at=0.0, model=f"model-{number}", usage=usage, seconds=1.5))
        session = SimpleNamespace(name="main", usage=sum(usages, Usage()), usage_log=log)
        hermes = SimpleNamespace(sessions=lambda: [session])
        show_usage(SimpleNamespace(desktop=SimpleNamespace(hermes=hermes)), words)
        return capsys.readouterr().out

    return report


def test_the_share_of_the_cache_and_the_source_of_the_price_are_told(report):
    assert report(FIRST) == (
        "main: 10,000 tokens read (63% from the cache), 500 written, 1 model call, "
        "$0.0123 (list prices of 2026-08)\n"
    )


def test_a_cost_that_nobody_knows_is_not_told(report):
    assert "$" not in report(SECOND)
    assert "more than $0.0123" in report(FIRST, SECOND)


def test_models_and_calls_are_told_apart(report):
    told = report(FIRST, SECOND, words=["--calls"])
    assert "  model-1: 2,000 tokens read (0% from the cache)" in told
    assert told.count("1.5 s  model-") == 2


def test_a_conversation_without_calls_is_told_too(report):
    assert report() == "main: 0 tokens read, 0 written, 0 model calls\n"
