"""What the engine is asked, so that a small model cannot answer wrongly in form."""

from __future__ import annotations

import json

import jsonschema
import pytest

from hermes_jupyter.agent.models.local.constrained import constrained, short


def tool(name, required=(), **properties):
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "type": "function",
        "function": {"name": name, "description": f"Does {name}.\nMore.", "parameters": parameters},
    }


STRING = {"type": "string", "description": "words for people"}
READ = tool("read_file", ["path"], path=STRING, offset={"type": "integer"})
SEARCH = tool("search_files", ["pattern"], pattern=STRING, target=STRING, limit=STRING)
SHELL = tool("terminal", ["command"], command=STRING, background={"type": "boolean"})


def asked(text):
    return {"role": "user", "content": text}


def did(name, arguments, result, call_id="c1"):
    call = {"id": call_id, "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)},
    ]


def request(*messages, tools=(READ, SEARCH), **options):
    return constrained({"messages": list(messages), "tools": list(tools), **options}).body()


def accepts(body, reply):
    schema = body["response_format"]["json_schema"]["schema"]
    return jsonschema.Draft202012Validator(schema).is_valid(reply)


READ_A = {"tool": "read_file", "arguments": {"path": "a"}}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (READ_A, True),
        ({"final": "done"}, True),
        ({"final": ""}, False),
        ({"tool": "invented", "arguments": {}}, False),
        ({"tool": "read_file", "arguments": {}}, False),
        ({"tool": "read_file", "arguments": {"path": 3}}, False),
        ({"tool": "read_file", "arguments": {"path": "a", "colour": "red"}}, False),
    ],
)
def test_a_reply_is_a_valid_call_or_a_final_text(reply, expected):
    assert accepts(request(asked("hi")), reply) == expected


def test_options_that_only_mislead_are_not_offered():
    body = request(asked("hi"))
    assert not accepts(body, {"tool": "read_file", "arguments": {"path": "a", "offset": 1}})
    assert accepts(
        body, {"tool": "search_files", "arguments": {"pattern": "a", "target": "content"}}
    )


@pytest.mark.parametrize(
    ("choice", "call", "final"),
    [
        ("auto", True, True),
        ("required", True, False),
        ({"type": "function", "function": {"name": "read_file"}}, True, False),
        ({"type": "function", "function": {"name": "search_files"}}, False, False),
    ],
)
def test_the_tool_choice_is_obeyed(choice, call, final):
    body = request(asked("hi"), tool_choice=choice)
    assert (accepts(body, READ_A), accepts(body, {"final": "x"})) == (call, final)


def test_after_the_same_call_twice_only_an_answer_is_possible():
    again = did("read_file", {"path": "a"}, {"error": "no"})
    body = request(asked("read a"), *again, *again)
    assert not accepts(body, READ_A)
    assert accepts(body, {"final": "I could not read it."})


def test_a_repeated_call_of_an_earlier_turn_does_not_count():
    again = did("read_file", {"path": "a"}, {"error": "no"})
    assert accepts(request(asked("read a"), *again, *again, asked("once more")), READ_A)


NOTHING = {"total_count": 0, "matches": []}
LINE = {"total_count": 1, "matches": [{"path": "a.txt", "line": 2, "content": "x"}]}
GREPPED = {"output": "2:x\n", "exit_code": 0}


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("search_files", {"pattern": "x"}, NOTHING),
        ("search_files", {"pattern": "x"}, LINE),
        ("terminal", {"command": "grep x a.txt"}, GREPPED),
    ],
)
def test_after_a_search_the_named_file_must_be_looked_at(name, arguments, result):
    search = did(name, arguments, result)
    body = request(asked("What does a.txt say?"), *search, tools=[READ, SEARCH, SHELL])
    assert body["messages"][-1]["content"].endswith("read a.txt")
    assert not accepts(body, {"final": "It says nothing."})


@pytest.mark.parametrize(
    ("prompt", "name", "arguments"),
    [
        ("How many x are in a.txt?", "search_files", {"pattern": "x"}),
        ("Replace x in a.txt by y.", "search_files", {"pattern": "x"}),
        ("Which file says x?", "search_files", {"pattern": "x"}),
        ("What does a.txt say?", "terminal", {"command": "grep -c x a.txt"}),
        ("What does a.txt say?", "terminal", {"command": "cat a.txt"}),
    ],
)
def test_no_file_is_read_that_need_not_be(prompt, name, arguments):
    search = did(name, arguments, LINE)
    body = request(asked(prompt), *search, tools=[READ, SEARCH, SHELL])
    assert accepts(body, {"final": "It says x."})


NO_SUCH = {"error": "No such file: limits.py", "similar_files": ["a.py"]}


def test_after_a_file_that_was_made_up_the_model_must_search():
    guess = did("read_file", {"path": "limits.py"}, NO_SUCH)
    body = request(asked("Where is MAX_SIZE set?"), *guess)
    assert body["messages"][-1]["content"].endswith("use search_files to find MAX_SIZE")
    assert not accepts(body, {"final": "In a.py."})


def test_a_file_that_the_user_named_may_be_missing():
    missing = did("read_file", {"path": "limits.py"}, NO_SUCH)
    body = request(asked("What does limits.py say?"), *missing)
    assert accepts(body, {"final": "There is no limits.py."})


def test_the_beginning_is_the_same_for_every_folder():
    bodies = [
        constrained({"messages": [{"role": "system", "content": folder}, asked("hi")],
                     "tools": [READ]})
        for folder in ("in /a", "in /b")
    ]  # fmt: skip
    assert bodies[0].preface == bodies[1].preface
    assert [body.spoken[0]["content"] for body in bodies] == ["in /a", "in /b"]


def test_what_was_said_in_a_session_stays_the_same():
    system = {"role": "system", "content": "You are Hermes."}
    first = request(system, asked("one"))["messages"]
    second = request(system, asked("one"), *did("read_file", {"path": "a"}, {}))["messages"]
    assert second[: len(first)] == first


def test_a_change_is_asked_for_in_one_way_only():
    patch = tool("patch", ["mode"], mode=STRING, path=STRING, old_string=STRING, new_string=STRING,
                 patch=STRING)  # fmt: skip
    body = request(asked("hi"), tools=[patch])
    change = {"path": "a", "old_string": "x", "new_string": "y"}
    assert accepts(body, {"tool": "patch", "arguments": change})
    assert not accepts(body, {"tool": "patch", "arguments": {"path": "a", "patch": "***"}})
    assert not accepts(body, {"tool": "patch", "arguments": {**change, "mode": "patch"}})


def test_short_definitions_have_a_line_and_few_parameters():
    (read, grow) = short(
        [READ, tool("grow", ["to"], to=STRING, **dict.fromkeys("abcdefg", STRING))]
    )
    assert list(read["function"]["parameters"]["properties"]) == ["path"]
    assert grow["function"]["description"] == "Does grow."
    assert len(grow["function"]["parameters"]["properties"]) == 5
    assert short([read, grow]) == [read, grow]


def test_only_examples_whose_tools_are_offered_are_shown():
    shown = json.dumps(request(asked("hi"))["messages"])
    assert "packing.txt" in shown
    assert "five.sh" not in shown
    assert "denied" in json.dumps(request(asked("hi"), tools=[SHELL])["messages"])


def test_references_of_a_schema_are_resolved():
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    plot = tool("plot", ["at"], at={"$ref": "#/$defs/Point"})
    plot["function"]["parameters"]["$defs"] = {"Point": point}
    body = request(asked("plot"), tools=[plot])
    assert accepts(body, {"tool": "plot", "arguments": {"at": {"x": 1}}})
    assert not accepts(body, {"tool": "plot", "arguments": {"at": {"x": "one"}}})


def test_a_schema_that_refers_to_itself_ends():
    tree = tool("grow", ["tree"], tree={"$ref": "#/$defs/Tree"})
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}}
    tree["function"]["parameters"]["$defs"] = {"Tree": node}
    body = request(asked("grow"), tools=[tree])
    assert accepts(body, {"tool": "grow", "arguments": {"tree": {"child": {}}}})
