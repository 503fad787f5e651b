import json

import pytest

from hermes_jupyter.reports.schemas import schema_text, type_of
from tools.registry import ToolRegistry


def entry(parameters, description="Do it."):
    registry = ToolRegistry()
    schema = {"description": description, "parameters": parameters}
    registry.register("do", "mine", schema, lambda args, **_: "done")
    return registry.get_entry("do")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"enum": ["a", 1, None]}, '"a" or 1 or null'),
        ({"const": 3}, "3"),
        ({"type": "array", "items": {"type": "string"}}, "array of strings"),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": {"$ref": "#/$defs/Edit"}}, "array of Edit"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer or null"),
        ({"enum": list(range(20))}, " or ".join(map(str, range(12))) + " or …"),
        ({}, "anything"),
        (True, "anything"),
    ],
)
def test_a_type_is_said_in_words(schema, words):
    assert type_of(schema) == words


def test_an_endless_type_ends():
    schema = {}
    schema["anyOf"] = [schema, {"type": "string"}]
    assert "string" in type_of(schema)


def test_a_parameter_is_shown_with_type_default_and_whether_it_is_required():
    parameters = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File to read."},
            "limit": {"type": "integer", "default": 50},
        },
        "required": ["path"],
    }
    text = schema_text(entry(parameters))
    assert "do  (toolset mine)\n\nDo it." in text
    assert "  path   string, required\n         File to read.\n" in text
    assert "  limit  integer, default 50\n" in text
    told = json.loads(text.partition("As JSON:\n")[2])
    assert told == {"name": "do", "description": "Do it.", "parameters": parameters}


@pytest.mark.parametrize("properties", [{}, None, "odd", {"x": True}, {"x": None}])
def test_odd_schemas_are_shown_all_the_same(properties):
    assert "As JSON" in schema_text(entry({"type": "object", "properties": properties}))


def test_control_characters_of_strangers_are_left_out():
    assert "\x1b" not in schema_text(entry({}, description="\x1b[31mred\x1b[0m\x07"))
