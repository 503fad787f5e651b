import ast
import json
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.agent.relaxed_values import Unrepairable
from hermes_jupyter.agent.repair import repaired

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "argrepair.jsonl"

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, width=32)
text = st.text(st.characters(exclude_categories=["Cs"]))
printable = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]))


def objects(texts):
    values = st.recursive(
        scalars.filter(lambda value: value not in (float("inf"), -float("inf"))) | texts,
        lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
        max_leaves=12,
    )
    return st.dictionaries(texts, values, max_size=5)


def missing_brackets(cut):
    """What closes the brackets of text that does not end inside a string."""
    closing = ""
    for sign in re.sub(r'"(?:[^"\\]|\\.)*"', "", cut):
        if sign in "{[":
            closing = ("}" if sign == "{" else "]") + closing
        elif sign in "}]":
            closing = closing[1:]
    return closing


SAME = [
    ('{"path": "notes.md"}', {"path": "notes.md"}),
    ('{"folder": "C:\\\\tmp", "deep": true}', {"folder": "C:\\tmp", "deep": True}),
    ('{"code": "x = {\'k\': None,}  # {"}', {"code": "x = {'k': None,}  # {"}),
    ('{"count": 123456789012345678901}', {"count": 123456789012345678901}),
    ("\n\t{}\n", {}),
    ('{"tail": "<|im_end|>"}', {"tail": "<|im_end|>"}),
]
MENDED = [
    # commas
    ('{"rows": [1, 2, ], "sep": ",]", }', {"rows": [1, 2], "sep": ",]"}),
    ('{"first": true "second": false}', {"first": True, "second": False}),
    ('{"edits": [{"old": "a"} {"old": "b"}]}', {"edits": [{"old": "a"}, {"old": "b"}]}),
    ('{"city"： "Köln"，"days": 2}', {"city": "Köln", "days": 2}),
    # quotes and words
    ("{'note': 'don\\'t', \"it\": \"isn't\"}", {"note": "don't", "it": "isn't"}),
    ("{u'path': u'b.txt', 'raw': r'\\w+'}", {"path": "b.txt", "raw": "\\w+"}),
    ("{all: True, none: None, $top: 3}", {"all": True, "none": None, "$top": 3}),
    ("{„path“: „b.txt“}", {"path": "b.txt"}),
    ('{"code": """say("hi")\nexit()"""}', {"code": 'say("hi")\nexit()'}),
    ('{"code": `say("hi")`}', {"code": 'say("hi")'}),
    ("{'pair': ('x', 2), 'one': (3,)}", {"pair": ["x", 2], "one": [3]}),
    ('{"mask": 0xFF, "half": .5, "many": 10_000, "up": +4}',
     {"mask": 255, "half": 0.5, "many": 10_000, "up": 4}),
    # what stands around
    ('~~~json\n{"path": "b"}\n~~~', {"path": "b"}),
    ("I'll read it:\n```\n{\"path\": \"b\"}\n```\nThen I go on.", {"path": "b"}),
    ('read_file({"path": "b"});', {"path": "b"}),
    ('<tool_call>\n{"path": "b",}\n</tool_call>', {"path": "b"}),
    ('<|channel|>commentary<|message|>{"path": "b"}<|call|>', {"path": "b"}),
    ('[TOOL_CALLS][{"path": "b"}]', {"path": "b"}),
    ('{\n  // where\n  "path": "b", # why\n  /* how */ "mode": "r"\n}', {"path": "b", "mode": "r"}),
    ('<tool_call>{"name": "read", "arguments": {"path": "b"}}</tool_call>', {"path": "b"}),
    ('{{"path": "b"}}', {"path": "b"}),
    # brackets
    ('{"steps": [{"do": "x", "with": [null', {"steps": [{"do": "x", "with": [None]}]}),
    ('{"steps": [{"do": "x"}}', {"steps": [{"do": "x"}]}),
    ('{"limit": 40 }}]}', {"limit": 40}),
    ('"path": "b", "mode": "r"}', {"path": "b", "mode": "r"}),
    ('{"path": "b"<|im_end|>', {"path": "b"}),
    # escapes and raw characters
    ('{"regex": "^\\s*\\w+$"}', {"regex": "^\\s*\\w+$"}),
    ('{"path": "D:\\Work\\Logs"}', {"path": "D:\\Work\\Logs"}),
    ('{"text": "\\ud83d\\ude00 \\q"}', {"text": "😀 \\q"}),
    ('{"text": "one\r\ntwo\x0c", }', {"text": "one\r\ntwo\x0c"}),
    ('\x00\ufeff{"n": 1,}\u200b\x00', {"n": 1}),
    # layers
    (json.dumps(json.dumps(json.dumps({"say": 'a "b"\n'}))), {"say": 'a "b"\n'}),
    ('{\\n \\"say\\": \\"a\\\\nb\\"}', {"say": "a\nb"}),
    ("'{\"say\": \"hi\"}'", {"say": "hi"}),
    ('{&quot;say&quot;: &quot;a &amp; b&quot;}', {"say": "a & b"}),
    ('<think>or {"n": 2}?</think>\n{"n": 1}', {"n": 1}),
    # the same again
    ('{"path": "b"}{"path": "b"}', {"path": "b"}),
    ("{'x': 1, 'y': 2}\n{'y': 2, 'x': 1}", {"x": 1, "y": 2}),
    # nothing
    ("NULL", {}), ("```\n\n```", {}), ('" "', {}), ("\ufeff", {}),
]  # fmt: skip
REFUSED = [
    # cut inside a value, or where more was promised
    '{"command": "rm -rf build', '{"command": "rm -rf build\\', '{"limit": 10', '{"limit": -',
    '{"deep": tru', '{"path": "b",', '{"path":', '{"path"', '{"pa', "{", '{"rows": [', '{"o": {',
    '{"path": "b" // the', '"{\\"path\\": \\"b', '```json\n{"path": "b', "{'path': 'b",
    '{"path": "b"}{"path": "b', '[{"path": "b"}, {"pa', '{"pair": ("x", "y"',
    # more than one object, or something beside it
    '{"n": 1}{"n": 2}', '{}{"n": 1}', '[{"n": 1}, {"n": 2}]', '{"n": 1}\n{"n": 1.0}',
    '{"n": 1}{"n": true}', '{"n": 1}, "m": 2}', '{"o": {"n": 1}}, "m": 2}', "[1, {'n': 1}]",
    "{'n': 1}, 2", 'write(path="b", content={"n": 1})', "write(content={'n': 1})",
    '<parameter name="content">{"n": 1}</parameter>', '{"n": 1, "n": 2,}', 'use {this}: {"n": 1}',
    '<think>{"n": 1}</think>', '{"n": 2}</think>{"n": 1}',
    # the end of a string would be guessed
    '{"text": "he said "yes" twice"}', "{'text': 'it's'}", '{"text": "a" "b"}',
    '{"list": ["a" "b"]}', '{"text": "say ""hi"": ok"}', "{“text\": 1}", "{path: b.txt}",
    '{"args": "echo "", "next": ""}',
    # something would be evaluated
    '{"n": 1 + 1}', '{"n": 7 // 2\n}', '{"at": datetime.now()}', '{"text": "a" + "b"}',
    '{"text": `${home}`}', '{"text": f"{x}"}', "dict(n=1)", '{"n": 1}.get("n")', '{"n": (1)}',
    # no JSON, no object
    '{"n": NaN,}', '{"n": Infinity}', '{"n": 1e999,}', '{"n": 010}', "{'n': {1, 2}}", "{1: 2}",
    '{"n" 1}', "{,}", "{]", "``", '{"rows": [1,,2]}', '{"rows": [1]], "m": 2}', "7", '"7"', "false",
    '["b.txt"]', "b.txt", "yes please", "<b>{</b>",
    # backslashes that are escapes, and others that are not
    '{"path": "C:\\new\\Users"}', '{"regex": "\\bword\\d"}',
]  # fmt: skip


@pytest.mark.parametrize(("written", "meant"), SAME + MENDED)
def test_what_has_one_reading_is_read(written, meant):
    read = repaired(written)
    assert json.dumps(read, sort_keys=True) == json.dumps(meant, sort_keys=True)


@pytest.mark.parametrize("written", REFUSED)
def test_what_has_none_or_two_is_refused(written):
    with pytest.raises(Unrepairable):
        repaired(written)


@pytest.mark.parametrize(
    ("written", "params", "meant"),
    [
        ('{"arguments": {"path": "b"}}', ["path"], {"path": "b"}),
        ('{"arguments": {"path": "b"}}', ["arguments"], {"arguments": {"path": "b"}}),
        ('{"arguments": {"path": "b"}}', None, {"arguments": {"path": "b"}}),
        ('{"name": "read", "arguments": "{\\"path\\": 1}"}', ["path"], {"path": 1}),
        ('{"name": "erase", "arguments": {"path": 1}}', ["path"], None),
        ("{'function': {'name': 'read', 'arguments': {'path': 1}}}", ["path"], {"path": 1}),
        ('{"args": {"other": 1}}', ["path"], None),
        ('{"args": {"path": 1}, "mode": "x"}', ["path", "mode"], None),
    ],
)
def test_an_envelope_is_opened_if_the_parameters_show_it(written, params, meant):
    assert repaired(written, params, "read") == (meant or ast.literal_eval(written))


@pytest.mark.parametrize("word", ["content: ", "content=", "<content>"])
def test_the_value_of_one_parameter_is_not_taken_for_all_arguments(word):
    with pytest.raises(Unrepairable):
        repaired(f"{word}{{'n': 1}}", ["content"])


def test_the_place_of_the_mistake_is_told():
    with pytest.raises(Unrepairable, match=r"inside the string that begins at character 20"):
        repaired('{"path": "b", "to": "unfinished')


@given(objects(text))
def test_json_comes_back_as_it_is(value):
    assert repaired(json.dumps(value)) == value
    assert repaired(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(objects(text))
def test_layers_and_fences_and_doubles_come_off(value):
    written = json.dumps(value)
    for around in (json.dumps(written), f"```json\n{written}\n```", written * 2):
        assert repaired(around) == value


@given(objects(printable))
def test_what_python_prints_is_read(value):
    assert repaired(repr(value)) == value


@given(objects(text), st.data())
def test_a_cut_text_is_refused_or_only_closed(value, data):
    """The law: of a JSON object that was cut, brackets are added where a value is complete.

    What is read is exactly what the strict parser reads from the cut text with some of ``}`` and
    ``]`` behind it; and the cut text ends in a quote, a bracket, or a whole word.
    """
    written = json.dumps(value)
    cut = written[: data.draw(st.integers(1, len(written) - 1))]
    try:
        read = repaired(cut)
    except Unrepairable:
        return
    assert cut.rstrip()[-1] in '"]}el'
    assert read == json.loads(cut + missing_brackets(cut))


@given(st.text() | st.text("{}[]()\"'`\\,:/#*<|>=utnxf01. \n", max_size=40))
def test_no_text_raises_anything_else(written):
    with suppress(Unrepairable):
        assert isinstance(repaired(written, ["path"]), dict)


BOMBS = {
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "deep but mended": '{"a":' * 100_000 + "'x'",
    "long string": '{"a": "' + "x" * 9_000_000 + '",}',
    "cut string": '{"a": "' + "x" * 9_000_000,
    "escapes": '{"a": "' + "\\n" * 4_000_000 + '",}',
    "wrong escapes": '{"a": "' + "\\d" * 4_000_000 + '",}',
    "elements": '{"a": [' + "1," * 4_000_000 + "],}",
    "doubles": "{}" * 4_000_000,
    "quotes": "'" * 9_000_000,
    "tags": "<" * 9_000_000 + "{}",
    "comments": '{"a": ' + "/*" * 4_000_000,
    "digits": '{"a": ' + "1" * 9_000_000 + ",}",
    "long integer": '{"a": ' + "1" * 9_000_000 + "}",
    "too long": '{"a": "' + "x" * 11_000_000 + '"}',
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_deep_and_huge_texts_do_no_harm(bomb):
    began = time.process_time()
    with suppress(Unrepairable):
        assert isinstance(repaired(bomb), dict)
    assert time.process_time() - began < 5


@pytest.mark.skipif(not CASES.is_file(), reason="the shared cases are not beside this project")
def test_the_shared_cases_come_out_as_expected():
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    wrong = [row["id"] for row in rows if outcome(row) != json.dumps(row["expected"])]
    assert not wrong


def outcome(row):
    try:
        return json.dumps(repaired(row["input"], row.get("params")))
    except Unrepairable:
        return json.dumps("unrepairable")
