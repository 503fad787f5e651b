"""Hooks are called in order, bounded, and never break what calls them."""

import asyncio
import threading

import pytest

from hermes_jupyter.hooks import HOOKS, Hooks, OnSessionReset, TransformLlmOutput

TOLD = TransformLlmOutput(response_text="a", model="m", session_id="main")


@pytest.fixture
def hooks():
    return Hooks(lambda: 5.0)


@pytest.fixture
def impatient():
    return Hooks(lambda: 0.02)


def ask(hooks, payload=TOLD):
    return [heard.answer for heard in asyncio.run(hooks.ask(payload))]


async def an_async_one(payload):
    await asyncio.sleep(0)
    return f"async {payload.response_text}"


async def a_slow_one(payload):
    await asyncio.sleep(30)


def test_functions_and_coroutine_functions_answer_in_the_order_they_came(hooks):
    hooks.on("transform_llm_output", an_async_one)
    hooks.on("transform_llm_output", lambda payload: f"sync {payload.session_id}")
    assert ask(hooks) == ["async a", "sync main"]


def test_a_plugin_gets_the_fields_as_keywords(hooks):
    hooks.register("transform_llm_output", lambda **about: sorted(about))
    (keywords,) = ask(hooks)
    assert keywords == [
        "model", "platform", "response_text", "session_id", "task_id", "turn_id",
    ]  # fmt: skip


def test_a_function_is_called_in_a_thread_of_its_own(hooks):
    hooks.on("transform_llm_output", lambda _: threading.current_thread().name)
    assert ask(hooks) == ["hermes-tool"]


def test_others_are_asked_although_one_fails_and_it_is_said_once(hooks):
    hooks.on("transform_llm_output", lambda _: 1 / 0)
    hooks.on("transform_llm_output", lambda _: "fine")
    assert ask(hooks) == ask(hooks) == [None, "fine"]
    (said,) = hooks.take_problems()
    assert "failed (ZeroDivisionError: division by zero) (transform_llm_output)" in said
    assert hooks.take_problems() == []


def test_one_that_ends_its_thread_has_failed(hooks):
    hooks.on("transform_llm_output", lambda _: exit(1))
    (heard,) = asyncio.run(hooks.ask(TOLD))
    assert "SystemExit" in heard.failure


@pytest.mark.parametrize("hook", [a_slow_one, lambda _: threading.Event().wait(1)])
def test_a_slow_one_is_left_and_after_three_times_not_called_any_more(impatient, hook):
    impatient.on("transform_llm_output", hook)
    failures = [asyncio.run(impatient.ask(TOLD))[0].failure for _ in range(4)]
    assert failures == ["took longer than 0.02 s"] * 3 + ["is switched off"]
    assert len(impatient.take_problems()) == 2


def test_a_timeout_of_its_own_is_a_failure_and_not_slowness(hooks):
    def fails(_):
        raise TimeoutError("the server")

    hooks.on("transform_llm_output", fails)
    assert asyncio.run(hooks.ask(TOLD))[0].failure == "failed (TimeoutError: the server)"


def test_each_gets_a_copy(hooks):
    payload = HOOKS["pre_tool_call"](tool_name="x", args={"a": [1]})
    hooks.on("pre_tool_call", lambda told: told.args["a"].append(2))
    hooks.on("pre_tool_call", lambda told: told.args["a"])
    assert ask(hooks, payload) == [None, [1]]
    assert payload.args == {"a": [1]}


def test_the_first_text_counts_and_what_is_none_is_said(hooks):
    for answer in (None, 7, "first", "second"):
        hooks.on("transform_llm_output", lambda _, answer=answer: answer)
    assert asyncio.run(hooks.text(TOLD)) == "first"
    assert "gave no text" in hooks.take_problems()[0]


def test_those_who_only_listen_are_told_in_order_behind_the_callers_back(hooks):
    told, release = [], threading.Event()

    def listen(payload):
        release.wait(5)
        told.append(payload.session_id)

    async def main():
        hooks.on("on_session_reset", listen)
        for name in "abc":
            hooks.tell(OnSessionReset(session_id=name))
        assert told == []
        release.set()
        await hooks.settle()

    asyncio.run(main())
    assert told == ["a", "b", "c"]


def test_nobody_waits_long_for_those_who_only_listen(impatient):
    async def main():
        impatient.on("on_session_reset", a_slow_one)
        for _ in range(50):
            impatient.tell(OnSessionReset())
        await asyncio.wait_for(impatient.settle(), 5)

    asyncio.run(main())


def test_what_on_returns_takes_it_out_of_that_hook_alone(hooks):
    def listen(_):
        return "x"

    off = hooks.on("transform_llm_output", listen)
    hooks.on("on_session_reset", listen)
    off()
    assert not hooks.wants("transform_llm_output")
    assert hooks.wants("on_session_reset")
    hooks.unregister(listen)
    assert not hooks


def test_an_unknown_name_is_refused_with_those_that_there_are(hooks):
    with pytest.raises(ValueError, match="no hook 'on_tuesday' here; there are pre_tool_call"):
        hooks.on("on_tuesday", print)
