"""The register of tools, and the road from a name to an answer."""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools import availability
from tools.registry import ToolRegistry, tool_error, tool_result

SCHEMA = {
    "description": "Say something.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def echo(args, **_):
    return tool_result(said=args.get("text"))


async def echo_later(args, **_):
    await asyncio.sleep(0)
    return tool_result(said=args.get("text"))


async def leave_later(args, **_):
    raise SystemExit(3)


def leave(args, **_):
    raise SystemExit(3)


def fail(args, **_):
    raise KeyError("no such thing")


@pytest.fixture
def register():
    """Registers a tool ``echo`` in a new registry, changed by keywords; returns the registry."""

    def make(**changes):
        made = ToolRegistry()
        about = {"name": "echo", "toolset": "speech", "schema": SCHEMA, "handler": echo}
        made.register(**{**about, **changes})
        return made

    return make


def answer_of(text):
    return json.loads(text)


def test_tool_result_is_json_of_a_value_or_of_keywords():
    assert tool_result([1, "é"]) == '[1, "é"]'
    assert answer_of(tool_result(a=1, b=None)) == {"a": 1, "b": None}
    assert answer_of(tool_error("too big", limit=3)) == {"error": "too big", "limit": 3}


def test_tool_of_another_toolset_is_not_replaced_by_accident(register):
    registry = register()
    with pytest.raises(ValueError, match=r"'echo' of toolset 'noise' .* 'speech'; rename it"):
        registry.register(name="echo", toolset="noise", schema=SCHEMA, handler=fail)
    assert registry.get_entry("echo").handler is echo


def test_tool_is_replaced_when_asked_for_or_within_its_toolset(register):
    registry = register()
    registry.register(name="echo", toolset="speech", schema=SCHEMA, handler=fail)
    assert registry.get_entry("echo").handler is fail
    registry.register(name="echo", toolset="noise", schema=SCHEMA, handler=echo, override=True)
    assert registry.get_toolset_for_tool("echo") == "noise"


def test_an_override_is_remembered_until_its_tool_is_gone(register):
    registry = register()
    replaced = registry.get_entry("echo")
    assert registry.overrides == []
    registry.register("echo", "noise", SCHEMA, fail, override=True)
    registry.register("echo", "noise", SCHEMA, echo_later)  # anew, which replaces nothing
    (override,) = registry.overrides
    assert (override.tool, override.replaced) == (registry.get_entry("echo"), replaced)
    assert "'echo' of toolset 'noise'" in str(override)
    assert "replaces that of toolset 'speech'" in str(override)
    registry.deregister("echo")
    assert registry.overrides == []


def test_override_that_meets_nobody_is_no_override(register):
    assert register(override=True).overrides == []


def test_what_was_registered_can_be_restored(register):
    registry = register()
    saved, before = registry.saved(), registry.entries()
    registry.restore(saved)
    assert registry.generation == 1
    registry.register("echo", "noise", SCHEMA, fail, override=True)
    registry.register("late", "noise", SCHEMA, fail)
    registry.restore(saved)
    assert (registry.entries(), registry.overrides, registry.generation) == (before, [], 4)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"handler": "echo"}, TypeError, "not callable"),
        ({"colour": "red"}, TypeError, "colour"),
        ({"schema": "a string"}, ValueError, "must be a dict"),
        ({"schema": {"description": object()}}, ValueError, "'echo' cannot be written as JSON"),
        ({"schema": {"maximum": float("nan")}}, ValueError, "'echo' cannot be written as JSON"),
        ({"schema": {"parameters": ["text"]}}, ValueError, "parameters of tool 'echo' must be a"),
    ],
)
def test_wrong_registration_is_refused(register, changes, error, message):
    with pytest.raises(error, match=message):
        register(**changes)


def test_fields_left_out_have_defaults(register):
    entry = register(requires_env=None, schema={}, description="Says it.").get_entry("echo")
    assert entry.requires_env == ()
    assert entry.emoji == "⚡"
    assert entry.max_result_size_chars == 100_000
    assert entry.schema == {
        "name": "echo",
        "description": "Says it.",
        "parameters": {"type": "object", "properties": {}},
    }


def test_every_change_grows_the_generation(register):
    registry = register()
    before = registry.generation
    registry.register(name="shout", toolset="speech", schema=SCHEMA, handler=echo)
    registry.deregister("shout")
    assert registry.generation == before + 2
    registry.deregister("shout")
    assert registry.generation == before + 2


def test_definitions_are_fresh_copies(register):
    registry = register()
    (definition,) = registry.get_definitions({"echo", "unknown"})
    assert definition["type"] == "function"
    assert definition["function"]["name"] == "echo"
    definition["function"]["parameters"].clear()
    assert registry.get_definitions(["echo"])[0]["function"]["parameters"] == SCHEMA["parameters"]


def test_a_tool_may_be_told_of_differently_each_time(register):
    voices = ["low"]

    def voices_now():
        text = {"type": "string", "enum": voices}
        return {"description": "Say it.", "parameters": {"properties": {"voice": text}}}

    registry = register(dynamic_schema_overrides=voices_now)
    for voice in "high", "shrill":
        voices.append(voice)
        function = registry.get_entry("echo").definition()["function"]
        assert function["description"] == "Say it."
        assert function["parameters"]["properties"]["voice"]["enum"] == voices
    assert registry.get_schema("echo") == {"name": "echo", **SCHEMA}


def test_dynamic_schema_never_changes_the_name(register):
    registry = register(dynamic_schema_overrides=lambda: {"name": "other"})
    assert registry.get_entry("echo").definition()["function"]["name"] == "echo"


@pytest.mark.parametrize("said", [None, "text", 5, {"parameters": []}, {"description": {1}}, leave])
def test_dynamic_schema_that_fails_leaves_the_plain_one(register, caplog, said):
    def overrides():
        return said({}) if callable(said) else said

    entry = register(dynamic_schema_overrides=overrides).get_entry("echo")
    assert entry.definition()["function"] == entry.schema
    assert "the dynamic schema of tool 'echo' failed" in caplog.text


def test_what_a_call_is_about_may_fail_and_then_its_arguments_are_shown(register, caplog):
    entry = register(about_fn=lambda args, **_: args["none"].title()).get_entry("echo")
    assert entry.about({"none": "ada"}, {}) == "Ada"
    assert entry.about({}, {"cells": None}) == ""
    assert "what a call of tool 'echo' is about failed" in caplog.text


def test_schema_changed_after_registration_changes_nothing(register):
    schema = {"description": "Say.", "parameters": {"type": "object", "properties": {}}}
    registry = register(schema=schema)
    schema["parameters"]["properties"]["late"] = {"type": "string"}
    assert registry.get_schema("echo")["parameters"]["properties"] == {}


def test_definitions_come_by_name_and_only_of_available_tools(register):
    availability.invalidate()
    registry = register()
    registry.register("absent", "speech", SCHEMA, echo, check_fn=lambda: False)
    registry.register("alarm", "speech", SCHEMA, echo, check_fn=lambda: True)
    names = [d["function"]["name"] for d in registry.get_definitions(["echo", "absent", "alarm"])]
    assert names == ["alarm", "echo"]


def test_names_can_be_asked_for_by_toolset(register):
    registry = register(emoji="🔊")
    registry.register("bang", "noise", SCHEMA, echo, max_result_size_chars=5)
    assert registry.get_all_tool_names() == ["bang", "echo"]
    assert registry.get_tool_names_for_toolset("speech") == ["echo"]
    assert registry.get_registered_toolset_names() == ["noise", "speech"]
    assert registry.get_emoji("echo") == "🔊"
    assert registry.get_max_result_size("bang") == 5
    assert registry.get_toolset_for_tool("unknown") is None


@pytest.mark.parametrize("handler", [echo, echo_later, functools.partial(echo_later)])
@pytest.mark.parametrize("is_async", [True, False])
def test_dispatch_answers_in_any_thread_whatever_the_mark_says(
    register, call_from, handler, is_async
):
    registry = register(handler=handler, is_async=is_async)
    answer = call_from(lambda: registry.dispatch("echo", {"text": "hi"}, session_id="s"))
    assert answer_of(answer) == {"said": "hi"}


@pytest.mark.parametrize("handler", [echo, echo_later, lambda args, **_: echo_later(args)])
@pytest.mark.parametrize("is_async", [True, False])
def test_adispatch_answers_whatever_the_mark_says(register, handler, is_async):
    registry = register(handler=handler, is_async=is_async)
    assert answer_of(asyncio.run(registry.adispatch("echo", {"text": "hi"}))) == {"said": "hi"}


def both_ways(registry, name="echo"):
    """The answers of the two dispatches, which are one."""
    first, second = registry.dispatch(name, {}), asyncio.run(registry.adispatch(name, {}))
    assert first == second
    return answer_of(first)


def test_unknown_tool_is_an_answer(register):
    assert both_ways(register(), "ekho") == {"error": "Unknown tool: ekho"}


def test_error_of_a_handler_is_an_answer(register):
    assert both_ways(register(handler=fail)) == {
        "error": "Tool execution failed: KeyError: 'no such thing'",
        "error_type": "KeyError",
    }


@pytest.mark.parametrize("handler", [leave, leave_later])
def test_sys_exit_in_a_handler_is_an_answer(register, handler):
    registry = register(handler=handler)
    for answer in registry.dispatch("echo", {}), asyncio.run(registry.adispatch("echo", {})):
        assert "SystemExit: 3" in answer_of(answer)["error"]


def test_long_error_is_cut(register):
    def shout(args, **_):
        raise ValueError("a" * 10_000)

    assert len(both_ways(register(handler=shout))["error"]) == 2_000


@pytest.mark.parametrize("wrong", [None, b"bytes", {"a": 1}, 5])
def test_answer_that_is_no_text_is_told_to_the_model(register, wrong):
    answer = both_ways(register(handler=lambda args, **_: wrong))
    assert answer["error_type"] == "tool_result_contract"
    assert type(wrong).__name__ in answer["error"]


def test_interrupt_of_a_handler_in_the_callers_thread_passes(register):
    def interrupted(args, **_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        register(handler=interrupted).dispatch("echo", {})


def test_blocking_tool_does_not_freeze_the_loop_that_awaits_it(register):
    may_end = threading.Event()

    async def main():
        call = asyncio.create_task(registry.adispatch("echo", {}))
        await asyncio.sleep(0)
        may_end.set()  # by the loop, while the tool waits for it
        return await call

    registry = register(handler=lambda args, **_: tool_result(freed=may_end.wait(5)))
    assert answer_of(asyncio.run(main())) == {"freed": True}


def test_cancelled_caller_is_cancelled(register):
    async def main():
        call = asyncio.create_task(registry.adispatch("echo", {}))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        return call.cancelled()

    async def endless(args, **_):
        await asyncio.Event().wait()

    registry = register(handler=endless)
    assert asyncio.run(main())


def test_cancellation_inside_a_tool_is_an_answer(register):
    async def give_up(args, **_):
        raise asyncio.CancelledError

    registry = register(handler=give_up)
    assert "CancelledError" in asyncio.run(registry.adispatch("echo", {}))
    assert "CancelledError" in registry.dispatch("echo", {})


def test_context_reaches_the_handler(register):
    def show(args, **context):
        return tool_result(context)

    registry = register(handler=show)
    assert answer_of(registry.dispatch("echo", {}, turn_id="t")) == {"turn_id": "t"}


def test_many_threads_may_register_read_and_forget_at_once(register):
    registry = register()
    start = threading.Barrier(8)

    def work(number):
        start.wait()
        for turn in range(50):
            name = f"tool_{number}_{turn}"
            registry.register(name, f"set_{number}", SCHEMA, echo)
            registry.register("shared", f"set_{number}", SCHEMA, echo, override=True)
            view = registry.view()
            assert name in view.names
            assert {"echo", name} <= set(registry.get_all_tool_names())
            assert view.get_all_tool_names() == sorted(view.names)
            assert registry.get_tool_names_for_toolset("speech") == ["echo"]
            if turn % 2:
                registry.deregister(name)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, number) for number in range(8)]:
            done.result(timeout=30)
    assert registry.generation == 1 + 8 * (50 + 50 + 25)
    assert len(registry.entries()) == 1 + 1 + 8 * 25
