"""Right values for many kinds of schemas and arguments."""

import json
from pathlib import Path

import pytest

from hermes_jupyter.road.coercion import Coerced, coerce, coerced, problems
from hermes_jupyter.road.coercion.changes import Change

CORPUS = Path(__file__).parents[4] / "shared" / "cases" / "coerce.jsonl"
INTEGER, NUMBER, BOOLEAN, STRING, NULL = (
    {"type": kind} for kind in ("integer", "number", "boolean", "string", "null")
)
LINE = {"type": "object", "properties": {"line": INTEGER, "text": STRING}}
MOVE = {"properties": {"do": {"const": "move"}, "by": INTEGER, "to": INTEGER}, "type": "object"}
SAY = {"properties": {"do": {"const": "say"}, "by": STRING}, "type": "object"}
SHAPES = {"Circle": {"type": "object", "properties": {"is": STRING, "r": NUMBER}},
          "Label": {"type": "object", "properties": {"is": STRING, "r": STRING}}}  # fmt: skip
TREE = {"type": "object", "properties": {
    "n": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}  # fmt: skip


def array(items):
    return {"type": "array", "items": items}


def fitted(schema, value, *, required=False, **more):
    """The value of a property ``x``; "gone" if the key was left out."""
    parameters = {"type": "object", "properties": {"x": schema}, **more}
    if required:
        parameters["required"] = ["x"]
    return coerce({"x": value}, parameters).get("x", "gone")


def exactly(value):
    return json.dumps(value)  # 1, 1.0 and true are three


@pytest.mark.parametrize(("schema", "text", "value"), [
    (INTEGER, str(2**80 + 1), 2**80 + 1),
    (INTEGER, "-9007199254740993", -9007199254740993),
    (INTEGER, "9007199254740993.0", 9007199254740993),
    (INTEGER, "1e25", 10**25),
    (INTEGER, "2.50e1", 25),
    (INTEGER, "10e-1", 1),
    (INTEGER, "\t+08\n", 8),
    (NUMBER, "+1.5", 1.5),
    (NUMBER, "1E2", 100),
    (NUMBER, "9007199254740993", 9007199254740993),
    (BOOLEAN, " T ", True),
    (BOOLEAN, "N", False),
    (BOOLEAN, "OFF", False),
])  # fmt: skip
def test_text_becomes_exactly_what_it_says(schema, text, value):
    assert exactly(fitted(schema, text)) == exactly(value)


@pytest.mark.parametrize(("schema", "value"), [
    (INTEGER, "1e-1"), (INTEGER, "12_3"), (INTEGER, "１２"), (INTEGER, "1e999999999"),
    (INTEGER, "9" * 9_999), (INTEGER, "1 2"), (INTEGER, "two"), (INTEGER, True), (INTEGER, [1]),
    (INTEGER, float("inf")), (NUMBER, False), (NUMBER, ".5"), (NUMBER, "5."), (NUMBER, "1e-999"),
    (NUMBER, "-Infinity"), (NUMBER, "1,5"), (BOOLEAN, "ja"), (BOOLEAN, 2), (BOOLEAN, 1.0),
    (STRING, True), (STRING, 1.0), (STRING, ["a"]), (STRING, {"a": 1}),
    (NULL, "nothing"), (True, "1"), ({}, "1"), (False, "1"),
    ({"type": "int"}, "1"), ({"type": 7}, "1"), ({"type": ["int", "string"]}, "1"),
])  # fmt: skip
def test_what_cannot_be_converted_stays(schema, value):
    assert fitted(schema, value, required=True) is value


@pytest.mark.parametrize(("schema", "value", "expected"), [
    (INTEGER, 4.0, 4), (INTEGER, -0.0, 0), (NUMBER, 4.0, 4.0), (BOOLEAN, 0, False),
    (STRING, -12, "-12"), ({"type": ["boolean", "integer"]}, 1, 1),
    ({"type": ["integer", "number"]}, 2.0, 2.0), ({"type": "integer", "minimum": 9}, "5", 5),
])  # fmt: skip
def test_numbers_change_type_only_without_loss(schema, value, expected):
    assert exactly(fitted(schema, value)) == exactly(expected)


@pytest.mark.parametrize(("schema", "value", "expected"), [
    (LINE, {"line": "3", "text": "4"}, {"line": 3, "text": "4"}),
    (LINE, {"line": "3", "other": "4"}, {"line": 3, "other": "4"}),
    (LINE, {"line": "x", "text": 4}, {"line": "x", "text": "4"}),
    (array(LINE), [{"line": "1"}, {"line": "x"}], [{"line": 1}, {"line": "x"}]),
    (array(INTEGER), ["1", 2.0, True, "x"], [1, 2, True, "x"]),
    (array(array(BOOLEAN)), [["yes"], ["0"]], [[True], [False]]),
    ({"additionalProperties": INTEGER}, {"a": "1", "b": "x"}, {"a": 1, "b": "x"}),
    ({"properties": {"a": STRING}, "additionalProperties": INTEGER},
     {"a": "1", "b": "1"}, {"a": "1", "b": 1}),
    ({"patternProperties": {"^n_": INTEGER}}, {"n_a": "1", "s_a": "1"}, {"n_a": 1, "s_a": "1"}),
    ({"patternProperties": {"(": INTEGER}}, {"n": "1"}, {"n": "1"}),
    ({"prefixItems": [INTEGER, STRING], "items": BOOLEAN}, ["1", 2, "no"], [1, "2", False]),
    ({"items": [INTEGER, STRING], "additionalItems": NUMBER}, ["1", "2", "3.5"], [1, "2", 3.5]),
])  # fmt: skip
def test_nested_values_are_converted_in_place(schema, value, expected):
    assert exactly(fitted(schema, value)) == exactly(expected)


@pytest.mark.parametrize(("schema", "text", "expected"), [
    (array(INTEGER), '["1", 2]', [1, 2]),
    (array(INTEGER), "['1', 2,]", [1, 2]),
    (array(INTEGER), "(1, 2)", [1, 2]),
    (array(LINE), ['{"line": "1"}'], [{"line": 1}]),
    (LINE, "{'line': '2', 'text': None}", {"line": 2}),
    (LINE, '"{\\"line\\": \\"2\\"}"', {"line": 2}),
    ({"type": "object"}, "{'a': True}", {"a": True}),
    ({"type": "object"}, "{1: 'a'}", "{1: 'a'}"),
    ({"type": "object"}, "{'a', 'b'}", "{'a', 'b'}"),
    ({"type": "object"}, "dict(a=1)", "dict(a=1)"),
    (array(INTEGER), "[NaN]", "[NaN]"),
    (array(INTEGER), "[1e999]", "[1e999]"),
    (array(INTEGER), "[1] [2]", "[1] [2]"),
    (array(INTEGER), "[__import__('os').getpid()]", "[__import__('os').getpid()]"),
    (array(STRING), r"['C:\data']", [r"['C:\data']"]),
])  # fmt: skip
def test_text_of_a_container_is_read_and_never_evaluated(schema, text, expected):
    assert exactly(fitted(schema, text, required=True)) == exactly(expected)


@pytest.mark.parametrize(("schema", "value", "expected"), [
    (array(STRING), "a;b", ["a;b"]), (array(NUMBER), "1.5", [1.5]), (array({}), 5, [5]),
    (array(STRING), "{\"a\": 1}", ['{"a": 1}']), (array(LINE), '{"line": "1"}', [{"line": 1}]),
    (array(array(INTEGER)), "7", [[7]]), (array({"enum": ["a", "b"]}), "B", ["b"]),
    (array(INTEGER), True, True), (array(STRING), 1.5, 1.5), (array(STRING), {"a": 1}, {"a": 1}),
    (array({**LINE, "required": ["line"]}), {"text": "a"}, {"text": "a"}),
    ({"type": ["array", "integer"], "items": INTEGER}, "5", 5),
    ({"anyOf": [array(STRING), NULL]}, "a", ["a"]), ({"anyOf": [array(STRING), STRING]}, "a", "a"),
    ({"oneOf": [array(INTEGER), BOOLEAN]}, "1", True), (array(STRING), "null", "null"),
])  # fmt: skip
def test_one_value_is_wrapped_if_it_fits_and_nothing_else_does(schema, value, expected):
    assert exactly(fitted(schema, value, required=True)) == exactly(expected)


@pytest.mark.parametrize(("schema", "value", "expected"), [
    ({"anyOf": [INTEGER, NULL]}, "None", None), ({"anyOf": [STRING, NULL]}, "None", "None"),
    ({"anyOf": [NULL, STRING]}, "null", None), ({"anyOf": [NULL, STRING]}, "None", "None"),
    (NULL, "", None), ({"type": "string", "nullable": True}, None, None),
    ({**LINE, "nullable": True}, "null", None), ({"enum": ["a", None]}, "null", None),
    ({"$ref": "#/$defs/line", "nullable": True}, "", None), (LINE, None, "gone"),
    (BOOLEAN, "None", "gone"), ({"enum": [1, 2]}, "", "gone"), ({"enum": ["a"]}, None, "gone"),
    (LINE, {"line": None, "text": ""}, {"text": ""}),
    ({**LINE, "required": ["line"]}, {"line": "null"}, {"line": "null"}),
    (array(INTEGER), [None, "null"], [None, "null"]), ({"additionalProperties": False}, {"a": None},
                                                       {"a": None}),
])  # fmt: skip
def test_no_value_is_null_or_no_key(schema, value, expected):
    assert exactly(fitted(schema, value, **{"$defs": {"line": LINE}})) == exactly(expected)


def test_a_branch_removes_no_key_that_the_whole_requires():
    branch = {"properties": {"a": INTEGER}}
    whole = {"type": "object", "required": ["a"], "anyOf": [branch], "allOf": [branch]}
    assert coerce({"a": None}, whole) == {"a": None}


@pytest.mark.parametrize(("members", "value", "expected"), [
    ([INTEGER, STRING], "5", 5), ([STRING, INTEGER], "5", "5"), ([INTEGER, STRING], "05", "05"),
    ([NUMBER, STRING], "1.50", "1.50"), ([BOOLEAN, STRING], "TRUE", "TRUE"),
    ([BOOLEAN, INTEGER], 1, 1), ([LINE, STRING], '{"line": "1"}', {"line": 1}),
    ([STRING, LINE], '{"line": "1"}', '{"line": "1"}'), ([{"enum": ["auto"]}, INTEGER], "12", 12),
    ([{"enum": ["auto"]}, INTEGER], "Auto", "auto"), ([{"const": "A"}, {"const": "a"}], "a", "a"),
    ([{"type": "integer", "maximum": 5}, STRING], "7", "7"),
    ([array(INTEGER), STRING], "[x]", "[x]"),
    ([array(INTEGER), STRING], '["x"]', '["x"]'), ([LINE, NULL], '{"line": "x"}', {"line": "x"}),
    ([LINE, NULL], {"line": "1", "text": []}, {"line": 1, "text": []}),
    ([{"type": ["integer", "string"]}, BOOLEAN], "42", 42), ([{"anyOf": [INTEGER]}, NULL], "4", 4),
])  # fmt: skip
@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_unions_try_their_members_in_order(word, members, value, expected):
    assert exactly(fitted({word: members}, value)) == exactly(expected)


@pytest.mark.parametrize(("value", "expected"), [
    ({"do": "move", "by": "1", "to": "x"}, {"do": "move", "by": 1, "to": "x"}),
    ({"do": "say", "by": "1"}, {"do": "say", "by": "1"}),
    ({"do": "MOVE", "by": "1"}, {"do": "move", "by": 1}),
    ('{"do": "move", "by": "1", "to": "x"}', {"do": "move", "by": 1, "to": "x"}),
    ({"do": "stay", "by": "1"}, {"do": "stay", "by": "1"}),
])  # fmt: skip
def test_a_tag_picks_the_branch(value, expected):
    assert exactly(fitted({"oneOf": [SAY, MOVE]}, value)) == exactly(expected)


@pytest.mark.parametrize("discriminator", [
    {"propertyName": "is"},
    {"propertyName": "is", "mapping": {"Circle": "#/$defs/Circle"}},
])  # fmt: skip
def test_a_discriminator_picks_the_branch(discriminator):
    union = {"oneOf": [{"$ref": "#/$defs/Label"}, {"$ref": "#/$defs/Circle"}],
             "discriminator": discriminator}  # fmt: skip
    assert fitted(union, {"is": "Circle", "r": "2"}, **{"$defs": SHAPES})["r"] == 2
    assert fitted(union, {"is": "Label", "r": "2"}, **{"$defs": SHAPES})["r"] == "2"


def test_all_of_applies_all():
    schema = {"allOf": [{"properties": {"b": BOOLEAN}}, LINE, {"required": ["b"]}]}
    assert fitted(schema, '{"b": "no", "line": "1"}') == {"b": False, "line": 1}


def test_a_condition_picks_what_applies():
    schema = {"if": {"properties": {"k": {"const": "n"}}}, "then": {"properties": {"v": INTEGER}}}
    assert fitted(schema, {"k": "n", "v": "1"}) == {"k": "n", "v": 1}
    assert fitted(schema, {"k": "s", "v": "1"}) == {"k": "s", "v": "1"}


@pytest.mark.parametrize(("members", "value", "expected"), [
    (["Low", "HIGH"], " high ", "HIGH"), (["a b"], "a_b", "a_b"), ([1, 2.5], "2.5", 2.5),
    ([True, "x"], "yes", True), ([1, True], "1", "1"), (["1", "2"], 2, "2"), ([1, 2], 2.0, 2),
    (["true"], True, True), ([[1]], "[1]", [1]), ([1, 2], "3", "3"), (["a", "a"], "A", "a"),
])  # fmt: skip
def test_an_enum_takes_the_one_member_that_is_meant(members, value, expected):
    assert exactly(fitted({"enum": members}, value)) == exactly(expected)


@pytest.mark.parametrize(("reference", "expected"), [
    ("#/$defs/n", 5), ("#/$defs/a~1b%20c", 5), ("#anchor", 5), ("#/$defs/alias", 5),
    ("#/$defs/none", "5"), ("https://nowhere.invalid/x.json", "5"), ("#/$defs/self", "5"),
    ("#/$defs/ping", "5"), ("#/title", "5"), ("#nothing", "5"), (5, "5"), ("http://[", "5"),
])  # fmt: skip
def test_references_are_followed_and_bad_ones_are_harmless(reference, expected):
    named = {
        "n": INTEGER, "a/b c": INTEGER, "anchored": {"$anchor": "anchor", "type": "integer"},
        "alias": {"$ref": "#/$defs/n"}, "self": {"$ref": "#/$defs/self"},
        "ping": {"allOf": [{"$ref": "#/$defs/pong"}]},
        "pong": {"anyOf": [{"$ref": "#/$defs/ping"}]},
    }  # fmt: skip
    schema = {"type": "object", "title": "t", "properties": {"x": {"$ref": reference}},
              "$defs": named}  # fmt: skip
    fits = coerce({"x": "5"}, schema)
    assert (fits, problems(fits, schema)) == ({"x": expected}, [])


def test_recursive_schemas_are_followed_as_far_as_the_value_goes():
    value = {"n": "1", "kids": [{"n": "2", "kids": '[{"n": "3"}]'}]}
    expected = {"n": 1, "kids": [{"n": 2, "kids": [{"n": 3}]}]}
    assert fitted({"$ref": "#/$defs/tree"}, value, **{"$defs": {"tree": TREE}}) == expected


def test_integers_that_cannot_be_written_stay():
    assert fitted(STRING, 10**5000) == 10**5000


def test_the_whole_may_be_a_reference_or_a_union():
    assert coerce({"n": "1"}, {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}}) == {"n": 1}
    assert coerce({"do": "move", "by": "1"}, {"oneOf": [SAY, MOVE]}) == {"do": "move", "by": 1}
    assert coerce({"a": "1"}, {"type": "object", "additionalProperties": INTEGER}) == {"a": 1}


def test_defaults_are_not_filled_in():
    assert coerce({}, {"type": "object", "properties": {"a": {**INTEGER, "default": 1}}}) == {}


def test_changes_tell_path_and_both_values():
    schema = {"type": "object", "properties": {"lines": array(LINE), "n": INTEGER, "b": BOOLEAN}}
    found = coerced({"lines": [{"line": "3"}], "n": "", "b": True}, schema)
    changes = (Change("lines[0].line", '"3"', "3"), Change("n", '""', "(left out)"))
    assert found == Coerced({"lines": [{"line": 3}], "b": True}, changes)
    assert str(changes[0]) == 'lines[0].line: "3" -> 3'


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus of cases is not here")
def test_the_corpus_is_right():
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    wrong = [
        row["id"]
        for row in rows
        if json.dumps(coerce(row["input"]["args"], row["input"]["schema"]), sort_keys=True)
        != json.dumps(row["expected"], sort_keys=True)
    ]
    assert wrong == []
