"""What holds of coercion whatever the schema and the arguments are."""

import copy
import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hermes_jupyter.road.coercion import coerce, coerced, problems
from hermes_jupyter.road.coercion.choices import same

KEYS = ["a", "b", "kind"]
TEXTS = ["", "null", "None", "5", "007", " 12 ", "1e3", "3.0", "true", "Yes", "x", "X", "[1]",
         '{"a": "1"}', "{'a': None}", "[1, 'x']", '"[1]"', "NaN"]  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([2.0, 2.5, 1e300, 2**80]),
    st.sampled_from(TEXTS),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=8,
)
ARGS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)
WORDS = ["type", "properties", "items", "anyOf", "allOf", "$ref", "enum", "required", "$id",
         "patternProperties", "if", "then"]  # fmt: skip
KINDS = ["null", "boolean", "integer", "number", "string", "array", "object"]
TYPED = st.sampled_from([{"type": kind} for kind in KINDS])
LEAVES = st.one_of(
    TYPED,
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True).map(
        lambda kinds: {"type": kinds}
    ),
    st.lists(SCALARS, min_size=1, max_size=3).map(lambda members: {"enum": members}),
    st.sampled_from([{}, True, False, {"$ref": "#"}, {"$ref": "#/$defs/leaf"}, {"const": 1},
                     {"type": "integer", "maximum": 2}, {"type": "string", "minLength": 2},
                     {"type": "integer", "nullable": True}, {"$ref": "#/nowhere"}]),
)  # fmt: skip


def _larger(inner):
    named = st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    members = st.lists(inner, min_size=1, max_size=3)
    wanted = st.lists(st.sampled_from(KEYS), max_size=1)
    return st.one_of(
        st.builds(lambda p, r: {"type": "object", "properties": p, "required": r}, named, wanted),
        st.builds(lambda p, o: {"properties": p, "additionalProperties": o}, named, inner),
        st.builds(lambda p: {"type": "object", "patternProperties": p}, named),
        inner.map(lambda items: {"type": "array", "items": items}),
        members.map(lambda items: {"type": "array", "prefixItems": items}),
        st.builds(lambda word, each: {word: each},
                  st.sampled_from(["anyOf", "oneOf", "allOf"]), members),
    )  # fmt: skip


INNER = st.recursive(LEAVES, _larger, max_leaves=8)
SCHEMAS = st.builds(
    lambda p, r: {"type": "object", "properties": p, "required": r,
                  "$defs": {"leaf": {"type": ["integer", "array"], "items": {"$ref": "#"}}}},
    st.dictionaries(st.sampled_from(KEYS), INNER, max_size=3),
    st.lists(st.sampled_from(KEYS), max_size=1),
)  # fmt: skip
many = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(SCHEMAS, ARGS)
def test_coercing_twice_is_coercing_once(schema, args):
    once = coerce(args, schema)
    assert _exactly(coerce(once, schema)) == _exactly(once)


@many
@given(SCHEMAS, ARGS)
def test_the_callers_object_stays_as_it_was(schema, args):
    before = copy.deepcopy(args)
    coerce(args, schema)
    assert _exactly(args) == _exactly(before)


@many
@given(SCHEMAS, ARGS)
def test_what_is_valid_stays_valid(schema, args):
    if not problems(args, schema):
        assert problems(coerce(args, schema), schema) == []


@many
@given(SCHEMAS, ARGS)
def test_valid_values_change_only_from_text_that_can_be_written_back(schema, args):
    if problems(args, schema):
        return
    for change in coerced(args, schema).changes:
        before, after = json.loads(change.before), json.loads(change.after)
        written = isinstance(before, str) and (before == json.dumps(after) or before[0] in '[{"')
        assert same(before, after) or written, change


@many
@given(SCHEMAS, ARGS)
def test_problems_are_those_of_jsonschema(schema, args):
    usable = json.loads(json.dumps(schema).replace("#/nowhere", "#/$defs/leaf"))
    if "nullable" not in json.dumps(schema):
        valid = _is_valid(usable, args)
        if valid is not None:
            assert (problems(args, usable) == []) == valid


@many
@given(SCHEMAS, ARGS)
def test_only_keys_without_a_value_are_removed(schema, args):
    fitted = coerce(args, schema)
    assert fitted.keys() <= args.keys()
    assert all(args[key] in (None, "", "null", "None") for key in args.keys() - fitted.keys())


@many
@given(VALUES | st.dictionaries(st.sampled_from(WORDS), VALUES), ARGS)
def test_any_value_as_a_schema_raises_nothing(schema, args):
    problems(coerce(args, schema), schema)
    inner = {"type": "object", "properties": {"a": schema}}
    problems(coerce(args, inner), inner)


@many
@given(st.recursive(
    st.integers(-(2**90), 2**90) | st.booleans() | st.floats(-1e9, 1e9).filter(lambda x: x % 1),
    lambda inner: st.lists(inner, min_size=1, max_size=3)
    | st.dictionaries(st.sampled_from(KEYS), inner, min_size=1, max_size=3),
    max_leaves=8,
), st.booleans())  # fmt: skip
def test_values_written_as_text_come_back_as_they_were(value, whole):
    written = json.dumps(value) if whole else _leaves_as_text(value)
    schema = {"type": "object", "properties": {"a": _schema_of(value)}}
    assert _exactly(coerce({"a": written}, schema)) == _exactly({"a": value})


def _exactly(value):
    return json.dumps(value)  # 1, 1.0 and true are three


def _is_valid(schema, args):
    try:
        return Draft202012Validator(schema).is_valid(args)
    except RecursionError:  # a circle of references, which is no schema for jsonschema
        return None


def _leaves_as_text(value):
    match value:
        case list():
            return [_leaves_as_text(each) for each in value]
        case dict():
            return {key: _leaves_as_text(each) for key, each in value.items()}
    return json.dumps(value)


def _schema_of(value):
    match value:
        case list():
            return {"type": "array", "prefixItems": [_schema_of(each) for each in value]}
        case dict():
            return {"properties": {key: _schema_of(each) for key, each in value.items()},
                    "type": "object"}  # fmt: skip
        case bool():
            return {"type": "boolean"}
    return {"type": "integer" if isinstance(value, int) else "number"}


@pytest.mark.parametrize("depth", [80, 2_000, 100_000])
def test_depth_raises_nothing(depth):
    deep: list = []
    for _ in range(depth):
        deep = [deep]
    tree = {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/tree"}}, "$defs": tree}
    for args in ({"x": deep}, {"x": "[" * depth + "]" * depth}, {"x": "[" * depth}):
        problems(coerce(args, schema), schema)


@pytest.mark.parametrize("kind", [{"$ref": "#/$defs/any"}, {"anyOf": [{"type": "integer"}]}])
def test_very_many_values_are_left_alone_in_good_time(kind):
    any_of = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/any"}}, {"type": "integer"}]}
    schema = {"type": "object", "properties": {"x": kind}, "$defs": {"any": any_of}}
    args = {"x": ["1"] * 600_000}
    began = time.monotonic()
    assert problems(coerce(args, schema), schema) == ["arguments: too many values to be checked"]
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("kind", [*KINDS, "nothing"])
def test_lone_surrogates_raise_nothing(kind):
    schema = {"type": "object", "properties": {"x": {"type": kind}}}
    for text in ("\ud800", '["\ud800"]', '["\\ud800"]', "['\udfff']"):
        problems(coerce({"x": text}, schema), schema)
