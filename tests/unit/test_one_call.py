import asyncio

import pytest

from hermes_jupyter.errors import TurnError
from hermes_jupyter.events import (
    ApprovalRequested,
    BatchStarted,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.hermes import Hermes
from hermes_jupyter.one_call import is_tool, run_call, wanted_call
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions
from tools.registry import tool_result

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def hermes(tmp_path):
    made = Hermes(Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1"))
    overlay = made.session().overlay
    overlay.register(
        "double", "own", {"parameters": NUMBER}, lambda args, **_: tool_result(n=2 * args["n"])
    )
    yield made
    asyncio.run(made.close())


def wanted(hermes, name, arguments="", **options):
    session = hermes.session()
    return wanted_call(hermes, name, arguments, session=session, options=TurnOptions(**options))


def make(hermes, call, *listeners, **options):
    return asyncio.run(
        run_call(
            call,
            hermes=hermes,
            session=hermes.session(),
            options=TurnOptions(**options),
            listeners=list(listeners),
            context={},
        )
    )


def test_a_call_is_a_turn_without_a_model(hermes):
    events = []
    hermes.model = None  # nobody may ask for one
    result = make(hermes, wanted(hermes, "double", '{"n": "21"}'), events.append)
    assert (result.status, result.json(), dict(result.args)) == ("ok", {"n": 42}, {"n": 21})
    assert [type(event) for event in events] == [
        TurnStarted, BatchStarted, ToolCallStarted, ToolCallFinished, TurnFinished,
    ]  # fmt: skip
    assert (events[0].model, events[0].steps) == ("", 0)
    assert events[0].prompt == '%hermes call double {"n": "21"}'


def test_the_conversation_and_the_tokens_stay_as_they_were(hermes):
    session = hermes.session()
    session.transcript.append({"role": "user", "content": "hi"})
    before = (list(session.transcript), session.usage)
    make(hermes, wanted(hermes, "double", '{"n": 1}'))
    assert (session.transcript, session.usage) == before
    assert not session.busy


def test_it_uses_the_shell_and_the_list_of_the_session(hermes, tmp_path):
    make(hermes, wanted(hermes, "terminal", f'{{"command": "cd {tmp_path}"}}'))
    assert hermes.session().environment.cwd == str(tmp_path)
    todo = '{"todos": [{"id": "1", "content": "x", "status": "pending"}]}'
    make(hermes, wanted(hermes, "todo", todo))
    assert hermes.session().todos


@pytest.mark.parametrize("answer", ["once", "deny"])
def test_a_person_is_asked_as_for_the_agent(hermes, tmp_path, answer):
    file = tmp_path / "old.log"
    file.write_text("x")
    desk = hermes.session().desk

    def person(event):
        if isinstance(event, ApprovalRequested):
            request = event.request
            desk.answer(request.id, answer, by="widget", digest=request.digest)

    result = make(hermes, wanted(hermes, "terminal", f'{{"command": "rm {file}"}}'), person)
    assert result.status == ("ok" if answer == "once" else "denied")
    assert file.exists() is (answer == "deny")


@pytest.mark.parametrize("name", ["double", "Double", "functions.double", "double<|end|>"])
def test_names_are_resolved_as_for_a_model(hermes, name):
    assert wanted(hermes, name).call.name == "double"


def test_near_names_are_offered(hermes):
    with pytest.raises(TurnError, match="did you mean double"):
        wanted(hermes, "doubles_it")
    with pytest.raises(TurnError, match="%hermes tools"):
        wanted(hermes, "q")


@pytest.mark.parametrize(
    ("arguments", "args"),
    [("", {}), ("{'n': 1,}", {"n": 1}), ('```json\n{"n": 1}\n```', {"n": 1})],
)
def test_arguments_are_repaired_where_they_have_one_reading(hermes, arguments, args):
    assert wanted(hermes, "double", arguments).call.args == args


@pytest.mark.parametrize("arguments", ['{"n": 1', '{"n": 1} {"n": 2}', "[1]"])
def test_other_arguments_are_refused(hermes, arguments):
    with pytest.raises(TurnError, match="arguments of double cannot be read"):
        wanted(hermes, "double", arguments)


def settings(hermes, **changes):
    hermes.settings = Settings(home=hermes.settings.home, base_url="http://x/v1", **changes)


def test_what_was_disabled_cannot_be_called_by_naming_it(hermes):
    settings(hermes, disabled=("terminal",))
    for options in ({}, {"tools": ("terminal",)}):
        with pytest.raises(TurnError, match="disabled"):
            wanted(hermes, "process", **options)


def test_what_was_not_chosen_is_refused_until_it_is_named(hermes):
    settings(hermes, toolsets=("file",))
    with pytest.raises(TurnError, match="--tools double"):
        wanted(hermes, "double")
    assert wanted(hermes, "double", tools=("double",)).call.name == "double"


def test_what_is_only_no_default_may_be_called(hermes):
    settings(hermes, model="local")
    assert wanted(hermes, "todo").call.name == "todo"


def test_the_called_tool_may_call_what_is_not_switched_off(hermes):
    settings(hermes, disabled=("todo",))
    tools = wanted(hermes, "double").tools
    assert "read_file" in tools.names
    assert "todo" not in tools.names


def test_a_tool_that_cannot_be_used_says_why(hermes):
    hermes.session().overlay.register(
        "oracle", "own", {}, lambda args, **_: "x", check_fn=lambda: (False, "no oracle")
    )
    with pytest.raises(TurnError, match="no oracle"):
        wanted(hermes, "oracle")


@pytest.mark.parametrize(
    ("name", "is_one"), [("double", True), ("doubel", True), ("me", False), ("mom", False)]
)
def test_a_tools_name_is_told_from_a_word(hermes, name, is_one):
    assert is_tool(hermes, name) is is_one
