"""What a model is told about arguments that do not fit."""

import time

import pytest

from hermes_jupyter.road.coercion import coerce, problems

EDIT = {
    "type": "object",
    "properties": {"line": {"type": "integer", "minimum": 1}, "how": {"enum": ["add", "cut"]}},
    "required": ["line"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "edits": {"type": "array", "items": EDIT},
        "one": {"anyOf": [EDIT, {"type": "null"}]},
        "size": {"type": ["integer", "null"]},
        "what": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]},
        "never": False,
    },
    "required": ["edits"],
}


@pytest.mark.parametrize(("args", "expected"), [
    ({"edits": []}, []),
    ({}, ["edits: required, but missing"]),
    ({"edits": "x"}, ['edits: "x" is not an array']),
    ({"edits": [{"line": "x"}]}, ['edits[0].line: "x" is not an integer']),
    ({"edits": [{"line": 0}]}, ["edits[0].line: 0 does not satisfy minimum 1"]),
    ({"edits": [{"line": 1, "how": "x"}]}, ['edits[0].how: "x" is not one of "add", "cut"']),
    ({"edits": [{"line": 1, "l": 2}]}, ['edits[0].l: unknown key; known are "line", "how"']),
    ({"edits": [{}, {}]},
     ["edits[0].line: required, but missing", "edits[1].line: required, but missing"]),
    ({"edits": [], "one": {}}, ["one.line: required, but missing"]),
    ({"edits": [], "one": 5}, ["one: 5 is not an object or null"]),
    ({"edits": [], "size": [1]}, ["size: an array of 1 is not an integer or null"]),
    ({"edits": [], "what": "x"}, ['what: "x" is not an integer or a boolean']),
    ({"edits": [], "never": 1}, ["never: nothing is allowed here"]),
])  # fmt: skip
def test_each_bad_path_has_one_sentence(args, expected):
    assert problems(args, SCHEMA) == expected


def test_long_values_and_long_lists_are_cut():
    found = problems({"edits": ["x" * 10_000_000] * 100}, SCHEMA)
    assert len(found) == 21
    assert max(map(len, found)) < 200


@pytest.mark.parametrize("schema", [
    {"properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}},
    {"properties": {"n": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"type": "integer"}}},
    {"properties": {"n": {"type": "integer", "nullable": True, "required": True}}},
    {"properties": {"n": {"type": "integer", "nullable": True, "enum": [5]}}},
    {"properties": {"n": {"oneOf": [{"type": "integer"}, {"type": "string"}]}}},
    {"properties": {"n": {"$ref": "#/components/schemas/n"}},
     "components": {"schemas": {"n": {"type": "integer", "nullable": True}}}},
])  # fmt: skip
@pytest.mark.parametrize("draft", ["04", "06", "07"])
def test_schemas_of_older_drafts_are_understood(draft, schema):
    schema = {
        "$schema": f"http://json-schema.org/draft-{draft}/schema#",
        "type": "object",
        **schema,
    }
    assert problems({"n": 5}, schema) == []
    assert len(problems({"n": [0]}, schema)) == 1


@pytest.mark.parametrize("schema", [
    {"properties": {"a": {"type": "int"}}}, {"properties": {"a": 5}}, {"properties": [1]},
    {"type": "object", "properties": {"a": {"pattern": "("}}}, "x",
])  # fmt: skip
def test_a_schema_that_is_none_is_named_as_the_culprit(schema):
    args = coerce({"a": "1"}, schema)
    assert args == {"a": "1"}
    assert "schema cannot be used" in problems(args, schema)[0]


def test_a_recursive_union_ends_soon():
    union = {"$ref": "#/$defs/u"}
    branches = [
        {"type": "object", "properties": {name: union, "x": union}, "required": ["x"]}
        for name in "abc"
    ]
    schema = {"type": "object", "properties": {"v": union},
              "$defs": {"u": {"anyOf": [*branches, {"type": "integer"}]}}}  # fmt: skip
    value: object = "bad"
    for _ in range(40):
        value = {"x": value}
    began = time.monotonic()
    assert problems(coerce({"v": value}, schema), schema) == [
        "arguments: nested too deeply to be checked"
    ]
    assert time.monotonic() - began < 10


def test_an_integer_that_nobody_can_write_is_no_fault_of_the_schema():
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}}
    assert problems({"a": 10**5000}, schema) == ["arguments: an integer has too many digits"]


def test_a_schema_that_was_changed_into_a_new_object_is_another_schema():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert coerce({"a": "1"}, schema) == {"a": 1}
    assert coerce({"a": "1"}, {"type": "object", "properties": {"a": {"type": "string"}}}) == {
        "a": "1"
    }
