"""The loop against servers that fail on demand, over real HTTP, in both APIs."""

import asyncio
import json

import pytest

from hermes_jupyter.agent.asking import Patience
from hermes_jupyter.agent.budget import Budget
from hermes_jupyter.agent.loop import Agent
from hermes_jupyter.agent.models.base import Delta, RawCall
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.agent.models.providers import named
from hermes_jupyter.agent.seams import anchor_of
from hermes_jupyter.agent.spending import Ceilings, Spending
from hermes_jupyter.errors import ConfigurationError, ModelError, TooLongError
from hermes_jupyter.events import (
    ModelCalled,
    NoticeGiven,
    ReasoningStreamed,
    RetryPlanned,
    StepStarted,
    TextStreamed,
    ToolCallFinished,
)
from hermes_jupyter.testing import call
from hermes_jupyter.testing.faults import (
    FaultyServer,
    cut,
    doubled_names,
    ended,
    failing,
    in_pieces,
    malformed,
    refused,
    stalled,
    too_long,
)
from hermes_jupyter.testing.oddities import as_chunks, streamed
from hermes_jupyter.testing.scripted_server import ScriptedServer
from hermes_jupyter.testing.stub_server import StubServer
from tools.registry import tool_result

STORY = "The capital of France is Paris, and the river that runs through it is the Seine."
AT = 45
"""A place in the middle of it."""
REST = anchor_of(STORY[:AT]) + STORY[AT:]
"""What a model says that goes on as it is asked to."""
BOTH_APIS = pytest.mark.parametrize("api", ["chat", "responses"])


class Shortening:
    """Does what a test says when a conversation is too long, and nothing unasked."""

    def __init__(self, compact):
        self._compact = compact

    def is_due(self, _model, _tools):
        return False

    def learn(self, _usage, _tools):
        pass

    async def compact(self, _model, _tools, *, window):
        return await self._compact(window)


@pytest.fixture
def go(turn):
    """Run a turn with models at these servers; the first is asked first."""

    def go(*servers, options=(), prompt="go", compact=None, steps=9, ceilings=(), transcript=None):
        def model_at(server):
            return OpenAIModel("scripted", base_url=server.url, **dict(options))

        road = turn.road()
        turn.agent = Agent(
            model=model_at(servers[0]),
            fallbacks=[lambda server=server: model_at(server) for server in servers[1:]],
            road=road,
            definitions=road.tools.definitions(),
            emit=turn.emit,
            budget=Budget(steps),
            transcript=[] if transcript is None else transcript,
            cwd=lambda: str(turn.folder),
            patience=Patience(base=0.01),
            compactor=compact and Shortening(compact),
            spending=Spending(Ceilings(**dict(ceilings))),
        )

        async def run():
            try:
                return await turn.agent.run(prompt)
            finally:
                await turn.agent.asker.model.close()

        return asyncio.run(run())

    return go


@pytest.fixture
def looked(turn):
    """A tool ``look``; the list tells what was looked at."""
    seen = []

    def look(args, **_):
        seen.append(args.get("at"))
        return tool_result(ok=True)

    turn.tool("look", look, parameters={"type": "object", "properties": {"at": {}}})
    return seen


def shown(turn):
    """What a person has read when all is over."""
    text = ""
    for event in turn.events:
        if isinstance(event, StepStarted):
            text = ""
        elif isinstance(event, TextStreamed):
            text += event.text
    return text


@BOTH_APIS
@pytest.mark.parametrize(
    "fault",
    [refused(429, "slow down", retry_after="0.01"), refused(500), refused(503, "overloaded"),
     refused(408), stalled(), stalled("", 0), cut("", 0)],
)  # fmt: skip
def test_a_passing_fault_is_waited_out(go, turn, fault, api):
    with FaultyServer(fault, STORY) as server:
        outcome = go(server, options={"api": api, "timeout": 0.5})
        assert outcome.text == shown(turn) == STORY
        assert len(server.asked) == 2
    assert turn.of(RetryPlanned)[0].number == 2
    assert turn.agent.budget.used == 1


def test_a_server_is_asked_again_when_it_says(go, turn):
    with FaultyServer(refused(429, retry_after="0.4"), refused(429), "done") as server:
        go(server)
    first, second = turn.of(RetryPlanned)
    assert first.seconds == 0.4
    assert second.seconds < 0.4
    assert "too many requests" in first.reason


def test_a_wait_ends_at_once_when_it_is_interrupted(go, turn):
    async def interrupt(agent):
        task = asyncio.create_task(agent.run("go"))
        while not turn.of(RetryPlanned):  # noqa: ASYNC110 - events come to a plain list
            await asyncio.sleep(0.01)
        began = asyncio.get_running_loop().time()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time() - began

    with FaultyServer(refused(429, retry_after="30")) as server:
        road = turn.road()
        agent = Agent(
            model=OpenAIModel("scripted", base_url=server.url), road=road, definitions=[],
            emit=turn.emit, budget=Budget(9), transcript=[], cwd=lambda: "",
        )  # fmt: skip
        assert asyncio.run(interrupt(agent)) < 0.3
    assert agent.transcript == []


def test_a_server_that_wants_an_hour_is_given_up_with_one_line(go, turn):
    with FaultyServer(refused(429, "come back later", retry_after="3600")) as server:
        with pytest.raises(ModelError, match="wait 3600 s") as caught:
            go(server)
        assert "\n" not in str(caught.value)
        assert len(server.asked) == 1
    assert turn.agent.transcript == []
    assert turn.agent.budget.used == 0


@BOTH_APIS
@pytest.mark.parametrize(
    "fault",
    [cut(STORY, AT), stalled(STORY, AT), stalled(STORY, AT, b": still here\n\n"),
     malformed(STORY, AT), failing(STORY, AT)],
)  # fmt: skip
def test_a_stream_that_breaks_goes_on_behind_what_was_shown(go, turn, fault, api):
    with FaultyServer(fault, REST) as server:
        options = {"api": api, "stall_timeout": 0.3}
        assert go(server, options=options).text == shown(turn) == STORY
        asked = json.dumps(server.asked[1])
        assert json.dumps(anchor_of(STORY[:AT]))[1:-1] in asked
    assert [m["content"] for m in turn.agent.transcript] == ["go", STORY]


def test_a_server_that_can_goes_on_with_the_words_themselves(go, turn):
    with FaultyServer(cut(STORY, AT), STORY[AT:]) as server:
        assert go(server, options={"provider": named("vllm")}).text == shown(turn) == STORY
        assert server.asked[1]["messages"][-1] == {"role": "assistant", "content": STORY[:AT]}
        assert server.asked[1]["continue_final_message"] is True


def test_one_that_cannot_after_all_is_asked_in_words(go, turn):
    refusal = refused(400, "Cannot set `add_generation_prompt` here")
    with FaultyServer(cut(STORY, AT), refusal, REST) as server:
        assert go(server, options={"provider": named("vllm")}).text == shown(turn) == STORY
        assert server.asked[2]["messages"][-1]["role"] == "user"


def test_a_model_that_begins_anew_with_other_words_replaces_the_first(go, turn):
    other = STORY[:AT] + "a big city. That is all."
    with FaultyServer(cut(STORY, AT + 20), other) as server:
        assert go(server).text == shown(turn) == other


def test_a_stream_that_breaks_in_a_call_is_asked_again_and_runs_it_once(go, turn, looked):
    with FaultyServer(cut(("I look. ", call("look", at=1)), 8), (call("look", at=1),), "ok") as s:
        assert go(s).text == "ok"
    assert looked == [1]
    assert turn.agent.transcript[1]["content"].strip() == "I look."


@BOTH_APIS
def test_an_answer_cut_by_its_length_goes_on(go, turn, api):
    with FaultyServer(ended(STORY[:AT], "length"), REST) as server:
        assert go(server, options={"api": api}).text == shown(turn) == STORY
    assert [event.finish for event in turn.of(ModelCalled)] == ["length", "stop"]
    assert turn.agent.transcript == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": STORY},
    ]


def test_each_call_of_a_long_answer_may_fail_anew(go):
    """As one does whose connection was kept open a moment too long."""
    faults = [refused(500), refused(500)]
    script = [*faults, ended(STORY[:AT], "length"), *faults, REST]
    with FaultyServer(*script) as server:
        assert go(server).text == STORY


def test_an_answer_that_never_ends_is_ended(go, turn):
    with FaultyServer(*[ended(f"part {n} of many. ", "length") for n in range(9)]) as server:
        outcome = go(server)
        assert len(server.asked) == 4
    assert outcome.text == "part 0 of many. part 1 of many. part 2 of many. part 3 of many. "
    assert "longest length" in turn.of(NoticeGiven)[-1].text


@BOTH_APIS
def test_nb_020_a_call_that_was_cut_is_not_run(go, turn, looked, api):
    whole, half = call("look", at=1), RawCall(id="", name="look", arguments='{"at": "lo')
    with FaultyServer(ended((whole, half), "length"), "ok") as server:
        assert go(server, options={"api": api}).text == "ok"
    assert looked == [1]
    results = [event.result for event in turn.of(ToolCallFinished)]
    assert [result.status for result in results] == ["ok", "error"]
    assert "cut off" in results[1].text


@BOTH_APIS
def test_an_empty_answer_is_nudged(go, turn, api):
    with FaultyServer("", STORY) as server:
        assert go(server, options={"api": api}).text == STORY
    assert len(turn.agent.transcript) == 2


@BOTH_APIS
def test_calls_and_results_go_to_and_fro(go, turn, looked, api):
    with ScriptedServer((call("look", at="a"), call("look", at="b")), "Two.") as server:
        assert go(server, options={"api": api}).text == "Two."
        path, body = server.requests[-1]
    assert looked == ["a", "b"]
    assert path.endswith("/responses" if api == "responses" else "/chat/completions")
    assert len(body["input" if api == "responses" else "messages"]) == (
        5 if api == "responses" else 4
    )


def test_thoughts_are_given_back_to_the_model_that_thought_them(go, looked):
    script = (Delta("reasoning", "Hm."), call("look", at=1))
    with ScriptedServer(script, "ok") as server:
        go(server, options={"api": "responses"})
        items = server.requests[-1][1]["input"]
    assert [item["type"] for item in items][1:3] == ["reasoning", "function_call"]
    assert items[1]["encrypted_content"] == "kept"


def test_thoughts_that_a_server_does_not_know_any_more_are_left_out(go, looked):
    extras = {"model": "scripted", "items": [{"type": "reasoning", "encrypted_content": "old"}]}
    before = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "y", "extras": extras},
    ]
    with FaultyServer(refused(400, "The encrypted content could not be verified"), "ok") as server:
        assert go(server, transcript=before, options={"api": "responses"}).text == "ok"
        assert "encrypted_content" in str(server.asked[0]["input"])
        assert "encrypted_content" not in str(server.asked[1]["input"])


def test_doubled_names_are_one_call(go, looked):
    with FaultyServer(doubled_names((call("look", at=1),)), "ok") as server:
        assert go(server).text == "ok"
    assert looked == [1]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_thoughts_in_tags_are_kept_apart_however_they_are_cut(go, turn, size):
    with FaultyServer(in_pieces("<think>Hm, <b>.</think>\n\nParis.", size)) as server:
        assert go(server).text == "Paris."
    assert "".join(event.text for event in turn.of(ReasoningStreamed)) == "Hm, <b>."
    assert turn.agent.transcript[-1]["content"] == "Paris."


def test_a_conversation_that_is_too_long_is_one_clear_line(go):
    with FaultyServer(too_long(4_096, 9_000)) as server:
        with pytest.raises(TooLongError, match="too long for 'scripted'") as caught:
            go(server)
        assert len(server.asked) == 1
    assert (caught.value.window, caught.value.asked) == (4_096, 9_000)


def test_it_is_made_shorter_if_something_can(go, turn):
    heard = []

    async def compact(window):
        heard.append(window)
        turn.agent.transcript[1:-1] = []
        return True

    old = [{"role": "system", "content": "s"}, {"role": "user", "content": "x" * 9}]
    with FaultyServer(too_long(), "ok") as server:
        assert go(server, transcript=old, compact=compact).text == "ok"
        assert len(server.asked[1]["messages"]) == 2
    assert heard == [4_096]


def test_images_that_a_model_does_not_take_are_left_out(go, turn):
    url = {"url": "data:image/png;base64,AAAA"}
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": url}]}
    with FaultyServer(refused(400, "image input is not supported"), "ok") as server:
        assert go(server, transcript=[picture]).text == "ok"
        assert "base64" in json.dumps(server.asked[0])
        assert "base64" not in json.dumps(server.asked[1])
    assert "going on without them" in turn.of(NoticeGiven)[0].text


@pytest.mark.parametrize(
    ("fault", "times"),
    [(refused(401, "no"), 1), (refused(402, "pay"), 1), (refused(404, "no model x"), 1),
     (refused(429, "slow", retry_after="0.01"), 3), (refused(500), 3), (too_long(), 1),
     (refused(429, "slow", retry_after="120"), 1), (ended("", "content_filter"), 1)],
)  # fmt: skip
def test_the_next_model_is_asked_when_the_first_fails(go, turn, fault, times):
    with FaultyServer(*[fault] * 3) as first, FaultyServer(STORY) as second:
        assert go(first, second).text == STORY
        assert len(first.asked) == times
    assert "going on with scripted" in turn.of(NoticeGiven)[-1].text


def test_the_next_model_goes_on_behind_what_the_first_has_shown(go, turn):
    failing_on = FaultyServer(cut(STORY, AT), refused(500), refused(500))
    with failing_on as first, FaultyServer(REST) as second:
        assert go(first, second).text == shown(turn) == STORY


def test_a_request_that_is_wrong_is_not_sent_to_others(go):
    with FaultyServer(refused(400, "bad temperature")) as first, FaultyServer("x") as second:
        with pytest.raises(ModelError, match="bad temperature"):
            go(first, second)
        assert not second.asked


def test_what_was_shown_stays_when_nothing_helps(go, turn):
    refusing = FaultyServer(cut(STORY, AT), refused(401, "no"))
    with refusing as server, pytest.raises(ModelError, match="API key"):
        go(server)
    assert turn.agent.transcript[1]["content"].startswith(STORY[:AT])


def test_a_model_that_needs_the_other_api_gets_it(go):
    refusal = refused(404, "This model is only supported in v1/responses")
    with FaultyServer(refusal, STORY) as server:
        assert go(server).text == STORY
        assert [path for path, _ in server.requests] == ["/v1/chat/completions", "/v1/responses"]


# Ceilings

PRICES = {"scripted": {"input": 1.0, "output": 10.0}}


def test_usage_and_cost_are_known_for_each_call(go, turn, looked):
    with ScriptedServer((call("look"),), "ok") as server:
        go(server, options={"prices": PRICES, "api": "responses"})
    for event in turn.of(ModelCalled):
        used = event.usage
        assert used.cached_tokens == used.prompt_tokens // 2
        cost = (used.prompt_tokens + 10 * used.completion_tokens) / 1e6
        assert used.cost == pytest.approx(cost)
        assert used.price_source == "your own prices"


def test_no_call_is_made_that_could_pass_the_ceiling_for_tokens(go, turn, looked):
    with ScriptedServer(*[(call("look", at=n),) for n in range(99)]) as server:
        outcome = go(server, steps=90, ceilings={"max_tokens": 6_000})
        asked = [body for _, body in server.requests]
    assert turn.agent.spending.spent.tokens <= 6_000
    assert outcome.status == "stopped"
    assert "of 6,000 tokens used" in outcome.reason
    assert "tools" not in asked[-1]  # the summary
    assert len(looked) > 3
    assert all(body["max_tokens"] < 6_000 for body in asked)


def test_no_call_is_made_that_could_pass_the_ceiling_for_money(go, turn, looked):
    with ScriptedServer(*[(call("look", at=n),) for n in range(99)]) as server:
        outcome = go(server, steps=90, ceilings={"max_cost": 0.03}, options={"prices": PRICES})
    assert 0 < turn.agent.spending.spent.cost <= 0.03
    assert "of $0.03 used" in outcome.reason


def test_a_ceiling_for_money_needs_a_price(go):
    with FaultyServer("x") as server:
        with pytest.raises(ConfigurationError, match="nobody says what 'scripted' costs"):
            go(server, ceilings={"max_cost": 1.0})
        assert not server.asked


def test_not_even_a_first_call_is_made_if_it_could_pass(go):
    with FaultyServer("x") as server:
        outcome = go(server, ceilings={"max_tokens": 300})
        assert not server.asked
    assert outcome.status == "stopped"


def test_nb_021_calls_without_ids_at_one_index_are_as_many_as_were_made(go, turn, looked):
    def function(**parts):
        return {"tool_calls": [{"index": 0, "function": parts}]}

    pieces = [
        function(**part)
        for n in range(3)
        for part in (
            {"name": "look", "arguments": ""}, {"arguments": '{"at": '}, {"arguments": f"{n}}}"}
        )
    ]  # fmt: skip
    answers = iter([streamed(*as_chunks(*pieces)), streamed(*as_chunks({"content": "Three."}))])
    with StubServer(lambda exchange: next(answers)(exchange)) as server:
        assert go(server).text == "Three."
    assert sorted(looked) == [0, 1, 2]
    wanted = [c for m in turn.agent.transcript for c in m.get("tool_calls") or ()]
    assert [json.loads(c["function"]["arguments"]) for c in wanted] == [{"at": n} for n in range(3)]
    assert len({c["id"] for c in wanted}) == 3
